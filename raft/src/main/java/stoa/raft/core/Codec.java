package stoa.raft.core;

import io.microraft.MembershipChangeMode;
import io.microraft.RaftEndpoint;
import io.microraft.model.groupop.UpdateRaftGroupMembersOp;
import io.microraft.model.log.LogEntry;
import io.microraft.model.log.RaftGroupMembersView;
import io.microraft.model.message.AppendEntriesFailureResponse;
import io.microraft.model.message.AppendEntriesRequest;
import io.microraft.model.message.AppendEntriesSuccessResponse;
import io.microraft.model.message.InstallSnapshotRequest;
import io.microraft.model.message.PreVoteRequest;
import io.microraft.model.message.PreVoteResponse;
import io.microraft.model.message.RaftMessage;
import io.microraft.model.message.TriggerLeaderElectionRequest;
import io.microraft.model.message.VoteRequest;
import io.microraft.model.message.VoteResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.raft.Member;

/// The bytes of messages between members, and of entries in the log.
final class Codec {
  /*
   *   message   kind u8, sender text, term varint, then
   *   1         append: previous term, previous index, commit index, query, flow, all varint; number of
   *             entries varint, and each
   *   2         has it: last index, query, flow
   *   3         has not what comes before: expected next index, query, flow
   *   4         vote: last term, last index, sticky u8
   *   5         answer to 4: granted u8
   *   6         would you vote: last term, last index
   *   7         answer to 6: granted u8
   *   8         stand for election: last term, last index
   *   9         the log begins later: its term, its index, members, query, flow
   *
   *   entry     index varint, term varint, then 0 u8 and sized bytes of a command; or 1 u8 for a leader's first
   *             entry; or 2 u8, members, one member text, and the kind of change u8
   *   members   index varint, number varint, texts; number of voting ones varint, texts
   *
   * A member is the text that it writes itself.
   */
  private static final int APPEND = 1;
  private static final int HAS = 2;
  private static final int LACKS = 3;
  private static final int VOTE = 4;
  private static final int VOTED = 5;
  private static final int ASK = 6;
  private static final int ASKED = 7;
  private static final int STAND = 8;
  private static final int BEGINS_LATER = 9;

  private static final Models MODELS = Models.ALL;

  private Codec() {}

  // ---- members

  static Member member(RaftEndpoint endpoint) {
    return ((Endpoint) endpoint).member();
  }

  private static void endpoint(RaftEndpoint endpoint, Encoder out) {
    out.text(member(endpoint).toString());
  }

  private static Endpoint endpoint(Decoder in) {
    return new Endpoint(Member.of(in.text()));
  }

  private static void endpoints(Collection<RaftEndpoint> endpoints, Encoder out) {
    out.varint(endpoints.size());
    for (RaftEndpoint endpoint : endpoints) endpoint(endpoint, out);
  }

  private static List<RaftEndpoint> endpoints(Decoder in) {
    var endpoints = new ArrayList<RaftEndpoint>();
    for (int left = in.count(); left > 0; left--) endpoints.add(endpoint(in));
    return endpoints;
  }

  static void view(RaftGroupMembersView view, Encoder out) {
    out.varint(view.getLogIndex());
    endpoints(view.getMembers(), out);
    endpoints(view.getVotingMembers(), out);
  }

  static RaftGroupMembersView view(Decoder in) {
    return view(in.varint(), endpoints(in), endpoints(in));
  }

  static RaftGroupMembersView view(
      long index, Collection<RaftEndpoint> members, Collection<RaftEndpoint> voting) {
    return MODELS
        .createRaftGroupMembersViewBuilder()
        .setLogIndex(index)
        .setMembers(members)
        .setVotingMembers(voting)
        .build();
  }

  /// Returns the members of a member that waits to be added.
  static RaftGroupMembersView nobody() {
    return view(0, List.of(Endpoint.NOBODY), List.of(Endpoint.NOBODY));
  }

  // ---- entries

  static void entry(LogEntry entry, Encoder out) {
    out.varint(entry.getIndex()).varint(entry.getTerm());
    switch (entry.getOperation()) {
      case Payload.Command(_, byte[] bytes) -> out.u8(0).sized(bytes);
      case Payload.Begun _ -> out.u8(1);
      case UpdateRaftGroupMembersOp change -> {
        out.u8(2);
        endpoints(change.getMembers(), out);
        endpoints(change.getVotingMembers(), out);
        endpoint(change.getEndpoint(), out);
        out.u8(number(change.getMode()));
      }
      case Object other -> throw new IllegalArgumentException("an entry with " + other);
    }
  }

  static RaftEntry entry(Decoder in) {
    long index = in.varint();
    int term = Math.toIntExact(in.varint());
    int kind = in.u8();
    Object operation =
        switch (kind) {
          case 0 -> new Payload.Command(term, in.sized());
          case 1 -> new Payload.Begun(term);
          case 2 ->
              MODELS
                  .createUpdateRaftGroupMembersOpBuilder()
                  .setMembers(endpoints(in))
                  .setVotingMembers(endpoints(in))
                  .setEndpoint(endpoint(in))
                  .setMode(mode(in.u8()))
                  .build();
          default -> throw new Decoder.MalformedException("an entry of the unknown kind " + kind);
        };
    return new RaftEntry(index, term, operation);
  }

  private static int number(MembershipChangeMode mode) {
    return switch (mode) {
      case ADD_LEARNER -> 0;
      case ADD_OR_PROMOTE_TO_FOLLOWER -> 1;
      case REMOVE_MEMBER -> 2;
    };
  }

  private static MembershipChangeMode mode(int number) {
    return switch (number) {
      case 0 -> MembershipChangeMode.ADD_LEARNER;
      case 1 -> MembershipChangeMode.ADD_OR_PROMOTE_TO_FOLLOWER;
      case 2 -> MembershipChangeMode.REMOVE_MEMBER;
      default ->
          throw new Decoder.MalformedException("a change of members of the unknown kind " + number);
    };
  }

  // ---- messages

  static boolean isKnown(RaftMessage message) {
    return kind(message) > 0;
  }

  private static int kind(RaftMessage message) {
    return switch (message) {
      case AppendEntriesRequest _ -> APPEND;
      case AppendEntriesSuccessResponse _ -> HAS;
      case AppendEntriesFailureResponse _ -> LACKS;
      case VoteRequest _ -> VOTE;
      case VoteResponse _ -> VOTED;
      case PreVoteRequest _ -> ASK;
      case PreVoteResponse _ -> ASKED;
      case TriggerLeaderElectionRequest _ -> STAND;
      case InstallSnapshotRequest _ -> BEGINS_LATER;
      default -> 0;
    };
  }

  static void message(RaftMessage message, Encoder out) {
    out.u8(kind(message));
    endpoint(message.getSender(), out);
    out.varint(message.getTerm());
    switch (message) {
      case AppendEntriesRequest it -> {
        out.varint(it.getPreviousLogTerm()).varint(it.getPreviousLogIndex());
        out.varint(it.getCommitIndex()).varint(it.getQuerySequenceNumber());
        out.varint(it.getFlowControlSequenceNumber()).varint(it.getLogEntries().size());
        for (LogEntry entry : it.getLogEntries()) entry(entry, out);
      }
      case AppendEntriesSuccessResponse it ->
          out.varint(it.getLastLogIndex())
              .varint(it.getQuerySequenceNumber())
              .varint(it.getFlowControlSequenceNumber());
      case AppendEntriesFailureResponse it ->
          out.varint(it.getExpectedNextIndex())
              .varint(it.getQuerySequenceNumber())
              .varint(it.getFlowControlSequenceNumber());
      case VoteRequest it ->
          out.varint(it.getLastLogTerm()).varint(it.getLastLogIndex()).u8(bit(it.isSticky()));
      case VoteResponse it -> out.u8(bit(it.isGranted()));
      case PreVoteRequest it -> out.varint(it.getLastLogTerm()).varint(it.getLastLogIndex());
      case PreVoteResponse it -> out.u8(bit(it.isGranted()));
      case TriggerLeaderElectionRequest it ->
          out.varint(it.getLastLogTerm()).varint(it.getLastLogIndex());
      case InstallSnapshotRequest it -> {
        out.varint(it.getSnapshotTerm()).varint(it.getSnapshotIndex());
        view(it.getGroupMembersView(), out);
        out.varint(it.getQuerySequenceNumber()).varint(it.getFlowControlSequenceNumber());
      }
      default -> throw new IllegalArgumentException("a message " + message);
    }
  }

  private static int bit(boolean value) {
    return value ? 1 : 0;
  }

  static RaftMessage message(Decoder in, Object group) {
    int kind = in.u8();
    Endpoint sender = endpoint(in);
    int term = number(in);
    return switch (kind) {
      case APPEND -> append(in, group, sender, term);
      case HAS ->
          MODELS
              .createAppendEntriesSuccessResponseBuilder()
              .setGroupId(group)
              .setSender(sender)
              .setTerm(term)
              .setLastLogIndex(in.varint())
              .setQuerySequenceNumber(in.varint())
              .setFlowControlSequenceNumber(in.varint())
              .build();
      case LACKS ->
          MODELS
              .createAppendEntriesFailureResponseBuilder()
              .setGroupId(group)
              .setSender(sender)
              .setTerm(term)
              .setExpectedNextIndex(in.varint())
              .setQuerySequenceNumber(in.varint())
              .setFlowControlSequenceNumber(in.varint())
              .build();
      case VOTE ->
          MODELS
              .createVoteRequestBuilder()
              .setGroupId(group)
              .setSender(sender)
              .setTerm(term)
              .setLastLogTerm(number(in))
              .setLastLogIndex(in.varint())
              .setSticky(in.u8() == 1)
              .build();
      case VOTED ->
          MODELS
              .createVoteResponseBuilder()
              .setGroupId(group)
              .setSender(sender)
              .setTerm(term)
              .setGranted(in.u8() == 1)
              .build();
      case ASK ->
          MODELS
              .createPreVoteRequestBuilder()
              .setGroupId(group)
              .setSender(sender)
              .setTerm(term)
              .setLastLogTerm(number(in))
              .setLastLogIndex(in.varint())
              .build();
      case ASKED ->
          MODELS
              .createPreVoteResponseBuilder()
              .setGroupId(group)
              .setSender(sender)
              .setTerm(term)
              .setGranted(in.u8() == 1)
              .build();
      case STAND ->
          MODELS
              .createTriggerLeaderElectionRequestBuilder()
              .setGroupId(group)
              .setSender(sender)
              .setTerm(term)
              .setLastLogTerm(number(in))
              .setLastLogIndex(in.varint())
              .build();
      case BEGINS_LATER -> beginsLater(in, group, sender, term);
      default -> throw new Decoder.MalformedException("a message of the unknown kind " + kind);
    };
  }

  private static AppendEntriesRequest append(Decoder in, Object group, Endpoint sender, int term) {
    var built =
        MODELS
            .createAppendEntriesRequestBuilder()
            .setGroupId(group)
            .setSender(sender)
            .setTerm(term)
            .setPreviousLogTerm(number(in))
            .setPreviousLogIndex(in.varint())
            .setCommitIndex(in.varint())
            .setQuerySequenceNumber(in.varint())
            .setFlowControlSequenceNumber(in.varint());
    var entries = new ArrayList<LogEntry>();
    for (int left = in.count(); left > 0; left--) entries.add(entry(in));
    return built.setLogEntries(entries).build();
  }

  private static InstallSnapshotRequest beginsLater(
      Decoder in, Object group, Endpoint sender, int term) {
    return MODELS
        .createInstallSnapshotRequestBuilder()
        .setGroupId(group)
        .setSender(sender)
        .setTerm(term)
        .setSenderLeader(true)
        .setSnapshotTerm(number(in))
        .setSnapshotIndex(in.varint())
        .setTotalSnapshotChunkCount(1)
        .setSnapshotChunk(null)
        .setSnapshottedMembers(List.of())
        .setGroupMembersView(view(in))
        .setQuerySequenceNumber(in.varint())
        .setFlowControlSequenceNumber(in.varint())
        .build();
  }

  private static int number(Decoder in) {
    return Math.toIntExact(in.varint());
  }
}
