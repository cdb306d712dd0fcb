package stoa.log;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import stoa.LogAddress;
import stoa.base.Decoder;

/// The header of a batch, as read from a log of several shards.
///
/// @param token its addresses
/// @param term its term; 0 for a seal
/// @param sequence its number within the term
/// @param nowMicros its time
/// @param note its note
/// @param items the contents of its addresses
@SuppressWarnings("ArrayRecordComponent") // compared by no code
record Header(
    Token token,
    long term,
    long sequence,
    long nowMicros,
    byte[] note,
    List<Streams.LogItem> items) {

  static Header of(long first, byte[] data) {
    var in = new Decoder(data);
    long epoch = in.varint();
    long term = in.varint();
    long sequence = in.varint();
    int count = (int) in.varint();
    long nowMicros = in.varint();
    byte[] note = in.sized();
    var items = new ArrayList<Streams.LogItem>();
    Streams.visit(first, data, first, Long.MAX_VALUE, items::add);
    return new Header(
        new Token(new LogAddress(epoch, first), count), term, sequence, nowMicros, note, items);
  }

  boolean isSeal() {
    return term == 0;
  }

  /// Returns the shards of its entries.
  BitSet participants(Layout layout) {
    var participants = new BitSet();
    for (Streams.LogItem item : items) {
      for (Streams.Place place : item.places()) participants.set(layout.shard(place.stream()));
    }
    return participants;
  }
}
