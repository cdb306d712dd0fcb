package stoa.store;

import java.util.ArrayList;
import java.util.List;
import stoa.Diverged;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;

/// The evidence that replicas of a key came to different states from the same puts.
///
/// ```
/// space text, name sized, object text, generation, from, to, first, all varint; two hashes of 16 bytes;
/// count varint of methods, each text
/// ```
///
/// @param space the key's space
/// @param name its name there
/// @param object what messages call the key
/// @param generation the stream address at which its generation began
/// @param from a stream address up to which nobody saw a difference
/// @param to the stream address after which the states differ
/// @param first the first stream address at which one replica came to two states when it executed
///   the puts again; 0 when it did not, or that would have taken long
/// @param led the hash of the state of who led
/// @param own the hash of the state of who followed
/// @param methods which methods were called at [#first], or behind [#from] up to [#to]; a few of
///   them
@SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
public record Divergence(
    String space,
    byte[] name,
    String object,
    long generation,
    long from,
    long to,
    long first,
    StreamId led,
    StreamId own,
    List<String> methods) {

  public Divergence {
    methods = List.copyOf(methods);
  }

  /// Reads what [#toBytes] wrote.
  public static Divergence of(byte[] bytes) {
    return of(new Decoder(bytes));
  }

  static Divergence of(Decoder in) {
    String space = in.text();
    byte[] name = in.sized();
    String object = in.text();
    long generation = in.varint();
    long from = in.varint();
    long to = in.varint();
    long first = in.varint();
    StreamId led = in.id();
    StreamId own = in.id();
    var methods = new ArrayList<String>();
    for (int left = in.count(); left > 0; left--) methods.add(in.text());
    return new Divergence(space, name, object, generation, from, to, first, led, own, methods);
  }

  /// This in bytes, to be told to who leads.
  public byte[] toBytes() {
    var out = new Encoder(name.length + 256).text(space).sized(name).message(object);
    out.varint(generation).varint(from).varint(to).varint(first).id(led).id(own);
    out.varint(methods.size());
    methods.forEach(out::text);
    return out.toBytes();
  }

  /// The stream of the key.
  StreamId stream() {
    return new Key(space, name, object).stream();
  }

  /// What was seen, in words.
  public String words() {
    String called = methods.isEmpty() ? "" : " (" + String.join(", ", methods) + ")";
    String where =
        first > 0
            ? "at version " + first + called
            : "between versions " + from + " and " + to + called;
    return "its replicas came to different states " + where;
  }

  /// What callers of the key are told.
  public Diverged refusal() {
    return new Diverged(
        object
            + " is quarantined: "
            + words()
            + ", so its class is not deterministic, or one state is damaged. A frequent cause is a"
            + " hashCode that depends on an address, as Objects.hash of an enum constant or an array"
            + " does; hash the constant's name(), the array's elements. Its history can be read. Mend"
            + " the class; then delete the object, or accept the state of the server that leads");
  }
}
