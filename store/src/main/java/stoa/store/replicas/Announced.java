package stoa.store.replicas;

import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.StreamId;

/// The leader's report of a key's state at an address, for the other replicas to compare.
///
/// ```
/// space text, name sized, address varint, generation varint, kind u8, form i64, hash 16 bytes;
/// kind: 0 the state in memory, 1 the checkpoint that was made there
/// ```
///
/// @param space the key's space
/// @param name its name there
/// @param address the stream address of the put after which the key had that state
/// @param generation the stream address at which the key's generation began
/// @param checkpoint whether the report is of the checkpoint at that address; the state that
///   continues from a checkpoint may have its bytes in another order
/// @param form the form of the encoded state, by `HandlerFactory.form`
/// @param hash the hash of the encoded state
@SuppressWarnings("ArrayRecordComponent") // a carrier; no code compares it
public record Announced(
    String space,
    byte[] name,
    long address,
    long generation,
    boolean checkpoint,
    long form,
    StreamId hash) {
  /// The stream of announcements.
  public static final Key KEY = Key.of("stoa", "announcements");

  /// Decodes the bytes of [#toBytes].
  public static Announced of(byte[] payload) {
    var in = new Decoder(payload);
    return new Announced(
        in.text(), in.sized(), in.varint(), in.varint(), in.u8() == 1, in.i64(), in.id());
  }

  /// Encodes this as the payload of an entry.
  public byte[] toBytes() {
    var out = new Encoder(name.length + space.length() + 72).text(space).sized(name);
    out.varint(address).varint(generation).u8(checkpoint ? 1 : 0).i64(form).id(hash);
    return out.toBytes();
  }

  /// Returns the stream of the key.
  public StreamId stream() {
    return new Key(space, name, space).stream();
  }
}
