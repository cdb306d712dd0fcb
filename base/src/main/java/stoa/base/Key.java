package stoa.base;

import java.nio.charset.StandardCharsets;

/// A key of the store: a name within a space. Keys of one space are of one kind, and are listed
/// together.
///
/// Immutable. Two keys are equal when their streams are.
public final class Key {
  private static final String STREAM = "stoa/stream";

  private final String space;
  private final byte[] name;
  private final Object label;
  private final StreamId stream;

  /// A key.
  ///
  /// @param space the name of its space
  /// @param name its name there; not to be changed any more
  /// @param label what messages call it
  public Key(String space, byte[] name, Object label) {
    this.space = space;
    this.name = name;
    this.label = label;
    this.stream = StreamId.of(new Encoder(64).text(space).raw(name).toBytes());
  }

  /// A key whose name is text.
  ///
  /// @throws IllegalArgumentException when the name holds half of a surrogate pair
  public static Key of(String space, String name) {
    return new Key(space, Texts.utf8(name), space + "[" + name + "]");
  }

  /// The key of a stream that is a user's, and of no object.
  public static Key ofStream(StreamId stream) {
    return new Key(stream);
  }

  private Key(StreamId stream) {
    this.space = STREAM;
    this.name = stream.toString().getBytes(StandardCharsets.UTF_8);
    this.label = "stream " + stream;
    this.stream = stream;
  }

  /// Whether it is that of a user's stream.
  public boolean isStream() {
    return space.equals(STREAM);
  }

  /// The name of the key's space.
  public String space() {
    return space;
  }

  /// The name within the space; not to be changed.
  public byte[] name() {
    return name;
  }

  /// What messages call the key; what the maker of the key gave.
  public Object label() {
    return label;
  }

  /// The stream that holds the key's puts.
  public StreamId stream() {
    return stream;
  }

  /// What is told when another generation of the key is meant than the one that there is.
  public String deletedText() {
    return this + " was deleted; ask the store for the key again to begin a new one";
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Key key && key.stream.equals(stream);
  }

  @Override
  public int hashCode() {
    return stream.hashCode();
  }

  @Override
  public String toString() {
    return label.toString();
  }
}
