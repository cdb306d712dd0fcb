package stoa.raft.core;

import io.microraft.RaftEndpoint;
import io.microraft.model.log.RaftGroupMembersView;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.log.Position;
import stoa.raft.Member;

/// The record that the log of a member keeps beside its entries.
///
/// @param term the member's present one
/// @param vote its vote in that term; null for none
/// @param voting whether it votes
/// @param addedAt the index at which it was added; 0 when that is unknown
/// @param position the position before the first entry
/// @param members those at that position
record LogHead(
    int term,
    @Nullable RaftEndpoint vote,
    boolean voting,
    long addedAt,
    Position position,
    RaftGroupMembersView members) {
  static final LogHead NONE = new LogHead(0, null, false, 0, Position.START, Codec.nobody());

  LogHead withTerm(int newTerm, @Nullable RaftEndpoint newVote) {
    return new LogHead(newTerm, newVote, voting, addedAt, position, members);
  }

  LogHead withVoting(boolean newVoting) {
    return new LogHead(term, vote, newVoting, addedAt, position, members);
  }

  LogHead withAddedAt(long newAddedAt) {
    return new LogHead(term, vote, voting, newAddedAt, position, members);
  }

  LogHead withPosition(Position newPosition, RaftGroupMembersView newMembers) {
    return new LogHead(term, vote, voting, addedAt, newPosition, newMembers);
  }

  /// Writes it: term varint, vote text (empty for none), voting u8, added at varint, then the
  /// position as [#writePosition] does.
  void write(Encoder out) {
    writeTerm(out);
    out.u8(voting ? 1 : 0).varint(addedAt);
    writePosition(out);
  }

  /// Writes the term varint, and the vote text.
  void writeTerm(Encoder out) {
    out.varint(term).text(text(vote));
  }

  /// Writes index and term of the position, both varint, and the members as in [Codec].
  void writePosition(Encoder out) {
    out.varint(position.index()).varint(position.term());
    Codec.view(members, out);
  }

  /// Reads what [#write] wrote.
  static LogHead read(Decoder in) {
    LogHead terms = NONE.readTerm(in);
    return terms.withVoting(in.u8() == 1).withAddedAt(in.varint()).readPosition(in);
  }

  /// Returns one with the term that [#writeTerm] wrote.
  LogHead readTerm(Decoder in) {
    int read = Math.toIntExact(in.varint());
    String text = in.text();
    return withTerm(read, text.isEmpty() ? null : new Endpoint(Member.of(text)));
  }

  /// Returns one with the position that [#writePosition] wrote.
  LogHead readPosition(Decoder in) {
    long index = in.varint();
    var read = new Position(in.varint(), index);
    return withPosition(read, Codec.view(in));
  }

  /// Returns a vote as text; the empty one for none.
  static String text(@Nullable RaftEndpoint endpoint) {
    return endpoint == null ? "" : Codec.member(endpoint).toString();
  }
}
