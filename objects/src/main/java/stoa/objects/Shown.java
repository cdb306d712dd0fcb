package stoa.objects;

import java.util.List;

/// A part of an object's state, or of a call, as an operator sees it: a tree. Immutable.
///
/// @param kind what it is
/// @param name its name in the value around it: a field, or the key of a map's entry; empty for an
///   element
/// @param type the class of the value; empty where the kind says enough
/// @param text the value, of a kind without parts; of [Kind#AGAIN], the path to where it stands
/// @param size how many elements, characters or bytes the value has; `parts` or `text` may show
///   fewer
/// @param parts the parts
public record Shown(
    Kind kind, String name, String type, String text, long size, List<Shown> parts) {
  /// The kind of a value.
  public enum Kind {
    /// There is no value.
    NULL,
    /// A boolean.
    BOOLEAN,
    /// A number.
    NUMBER,
    /// Text: its beginning, when `size` is greater.
    TEXT,
    /// An enum constant, a class, a time, an id: anything else that is written in one word.
    WORD,
    /// Bytes, in hexadecimal digits: the first ones, when `size` is greater.
    BYTES,
    /// An object with fields.
    OBJECT,
    /// Elements in their order.
    LIST,
    /// Elements without an order.
    SET,
    /// Entries by their keys.
    MAP,
    /// An entry whose key is no single word: the key and the value.
    ENTRY,
    /// Another shared object: its type and key.
    REFERENCE,
    /// A value that stands elsewhere in the tree, too.
    AGAIN,
    /// A value that is not shown, with the reason.
    HIDDEN
  }

  /// Copies the parts.
  public Shown {
    parts = List.copyOf(parts);
  }

  /// How much of a state is shown.
  ///
  /// @param elementsMax of each collection and array, at most
  /// @param textMax characters or bytes of each value, at most
  public record Bounds(int elementsMax, int textMax) {
    /// The most values of one tree, whatever else is asked.
    static final int VALUES_MAX = 50_000;

    /// The most characters of one tree.
    static final int CHARACTERS_MAX = 2 << 20;

    private static final int TEXT_MAX = 64 << 10;

    /// Limits both.
    public Bounds {
      elementsMax = Math.clamp(elementsMax, 1, VALUES_MAX);
      textMax = Math.clamp(textMax, 16, TEXT_MAX);
    }
  }
}
