package stoa.store.replicas;

import java.util.ArrayList;
import java.util.List;
import stoa.Diverged;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.StreamId;

/// The evidence for which a key is in quarantine: its replicas came to different states from the
/// same puts, or one of its puts has repeatedly ended the process that executed it.
///
/// When a put has ended the process, `first` and `to` are its address, and both hashes are zero.
///
/// ```
/// space text, name sized, object text, generation, from, to, first, all varint;
/// two hashes of 16 bytes;
/// count varint of methods, each text
/// ```
///
/// @param space the key's space
/// @param name its name there
/// @param object the name of the key in messages
/// @param generation the stream address at which its generation began
/// @param from a stream address up to which no replica saw a difference
/// @param to the stream address after which the states differ
/// @param first the first stream address at which one replica came to two states when it executed
///   the puts again; 0 when it did not, or when the search would have taken long
/// @param led the hash of the leader's state
/// @param own the hash of the state of the replica that follows
/// @param methods the methods of the calls at [#first], or behind [#from] up to [#to]; a few of
///   them
@SuppressWarnings("ArrayRecordComponent") // a carrier; no code compares it
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

  /// Decodes the bytes of [#toBytes].
  public static Divergence of(byte[] bytes) {
    return of(new Decoder(bytes));
  }

  /// Decodes the same bytes from a decoder.
  public static Divergence of(Decoder in) {
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

  /// Encodes this, to be sent to the leader.
  public byte[] toBytes() {
    var out = new Encoder(name.length + 256).text(space).sized(name).message(object);
    out.varint(generation).varint(from).varint(to).varint(first).id(led).id(own);
    out.varint(methods.size());
    methods.forEach(out::text);
    return out.toBytes();
  }

  /// Returns the stream of the key.
  public StreamId stream() {
    return new Key(space, name, object).stream();
  }

  /// Returns the evidence that a put ends the process that executes it.
  ///
  /// @param method the method that it calls; empty when that is unknown
  public static Divergence fatal(Key key, long generation, long address, String method) {
    var none = new StreamId(0, 0);
    return new Divergence(
        key.space(),
        key.name(),
        key.toString(),
        generation,
        address - 1,
        address,
        address,
        none,
        none,
        method.isEmpty() ? List.of() : List.of(method));
  }

  /// Returns whether a put has ended the process that executed it; otherwise, replicas have
  /// diverged.
  public boolean isFatal() {
    return first > 0 && led.equals(own);
  }

  /// Describes the difference.
  public String words() {
    if (isFatal()) {
      String method = methods.isEmpty() ? "" : " (" + String.join(", ", methods) + ")";
      return "the process ended twice while it executed version " + first + method;
    }
    String called = methods.isEmpty() ? "" : " (" + String.join(", ", methods) + ")";
    String where =
        first > 0
            ? "at version " + first + called
            : "between versions " + from + " and " + to + called;
    return "its replicas came to different states " + where;
  }

  /// Returns the error of a replica that follows, and does not execute the put that has ended its
  /// process. The key is not in quarantine for that: the leader has executed the put.
  public Diverged refusalToFollow() {
    return new Diverged(
        words()
            + " of "
            + object
            + ", so this replica, which follows, does not execute that call again; the server that"
            + " leads has executed it");
  }

  /// Returns the error for callers of the key.
  public Diverged refusal() {
    if (isFatal()) {
      return new Diverged(
          object
              + " is quarantined: "
              + words()
              + ", so that call is not executed again. Versions before it can be read. Mend the class;"
              + " then delete the object, or accept it as it is without that call");
    }
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
