package stoa.base;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// A key of the store: a name within a space. Keys of one space are of one kind, and are listed
/// together.
///
/// Immutable. Two keys are equal when their streams are.
public final class Key {
  private static final String STREAM = "stoa/stream";

  private final String space;
  private final byte[] name;
  private final Object label;

  // Null until a reader asks for it: a state may refer to thousands of objects, and call none of
  // them. Threads that find null compute the same id.
  private @Nullable StreamId stream;

  /// Creates a key.
  ///
  /// @param space the name of its space
  /// @param name its name there; do not change it afterwards
  /// @param label its name in messages
  public Key(String space, byte[] name, Object label) {
    this.space = space;
    this.name = name;
    this.label = label;
  }

  /// Returns a key whose name is text.
  ///
  /// @throws IllegalArgumentException when the name contains half of a surrogate pair
  public static Key of(String space, String name) {
    return new Key(space, Texts.utf8(name), space + "[" + name + "]");
  }

  /// Returns the key of a user's stream, which is no object's.
  public static Key ofStream(StreamId stream) {
    return new Key(stream);
  }

  private Key(StreamId stream) {
    this.space = STREAM;
    this.name = stream.toString().getBytes(StandardCharsets.UTF_8);
    this.label = "stream " + stream;
    this.stream = stream;
  }

  /// Returns whether it is that of a user's stream.
  public boolean isStream() {
    return space.equals(STREAM);
  }

  /// Returns the name of the key's space.
  public String space() {
    return space;
  }

  /// Returns the name within the space; do not change it.
  public byte[] name() {
    return name;
  }

  /// Returns the key's label for messages, from its constructor.
  public Object label() {
    return label;
  }

  /// Returns the stream that holds the key's puts.
  public StreamId stream() {
    StreamId known = stream;
    if (known == null) {
      known = StreamId.of(new Encoder(64).text(space).raw(name).toBytes());
      stream = known;
    }
    return known;
  }

  /// Returns the message for a caller that expects another generation of the key than the present
  /// one.
  public String deletedText() {
    return this + " was deleted; ask the store for the key again to begin a new one";
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Key key && key.stream().equals(stream());
  }

  @Override
  public int hashCode() {
    return stream().hashCode();
  }

  @Override
  public String toString() {
    return label.toString();
  }
}
