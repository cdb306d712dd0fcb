package stoa.store.ordering;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.log.Entry;
import stoa.log.Token;

/// The decision of a [Coordinator] in one round: its transactions are committed once home has
/// logged it.
///
/// @param token the addresses of the transactions
/// @param nowMicros the time of the decision
/// @param ids the names of the transactions, in the order of their addresses
/// @param parts the entries that each other store must log; none for transactions that only read
///   there
/// @param behind the stream address up to which every store has logged all earlier decisions
public record Decision(
    Token token,
    long nowMicros,
    List<UUID> ids,
    SortedMap<Integer, List<Entry>> parts,
    long behind) {
  /*
   * kind u8: 1, and then epoch, first counter, count, now, behind, all varint; number of ids
   * varint, and each two i64; number of parts varint, and for each its store and number of entries,
   * varint, and the entries.
   *
   * kind u8: 0, and nothing: a coordinator has begun, or has moved its limit.
   */
  public static final Key KEY = Key.of("stoa/decisions", "");

  private static final int BEGINNING = 0;
  private static final int DECISION = 1;

  /// Returns an entry that decides nothing.
  static byte[] beginning() {
    return new byte[] {BEGINNING};
  }

  /// Returns the part that one store must log.
  Addresses.Decided of(int member) {
    return new Addresses.Decided(token, nowMicros, parts.getOrDefault(member, List.of()));
  }

  /// Returns the address of a transaction; null when this did not decide it.
  @Nullable LogAddress address(UUID id) {
    int index = ids.indexOf(id);
    return index < 0 ? null : token.at(index);
  }

  byte[] toBytes() {
    var out = new Encoder(256).u8(DECISION);
    out.varint(token.first().epoch()).varint(token.first().counter()).varint(token.count());
    out.varint(nowMicros).varint(behind).varint(ids.size());
    for (UUID id : ids) out.i64(id.getMostSignificantBits()).i64(id.getLeastSignificantBits());
    out.varint(parts.size());
    parts.forEach((member, entries) -> {
      out.varint(member).varint(entries.size());
      for (Entry entry : entries) entry.write(out);
    });
    return out.toBytes();
  }

  /// Decodes the bytes of [#toBytes]; returns null for an entry that decides nothing.
  static @Nullable Decision parse(byte[] bytes) {
    var in = new Decoder(bytes);
    int kind = in.u8();
    if (kind == BEGINNING) return null;
    if (kind != DECISION) {
      throw new IllegalArgumentException("a decision of the unknown kind " + kind);
    }
    var token = new Token(new LogAddress(in.varint(), in.varint()), (int) in.varint());
    long nowMicros = in.varint();
    long behind = in.varint();
    int count = in.count();
    List<UUID> ids = new ArrayList<>(count);
    for (int i = 0; i < count; i++) ids.add(new UUID(in.i64(), in.i64()));
    SortedMap<Integer, List<Entry>> parts = new TreeMap<>();
    int members = in.count();
    for (int i = 0; i < members; i++) {
      int member = (int) in.varint();
      int size = in.count();
      List<Entry> entries = new ArrayList<>(size);
      for (int j = 0; j < size; j++) entries.add(Entry.read(in));
      parts.put(member, entries);
    }
    return new Decision(token, nowMicros, ids, parts, behind);
  }
}
