package stoa.front.types;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import stoa.Corrupt;

/// Encoded keys as operators write and read them. Needs no class of the program, and runs no code
/// of one.
///
/// ```
/// alice  "two words"               a String; quotes are needed where it has other characters
/// long:42  int:42                  a Long, an Integer
/// uuid:0b6c…                       a UUID
/// enum:bank.Branch#NORTH           an enum constant
/// record:bank.Slot(alice, long:7)  a record, with its components in their order
/// ```
///
/// In quotes, a backslash stands before a quote and before a backslash.
public final class KeyText {
  private static final String FORMS =
      "a key is written alice, \"two words\", long:42, int:42, uuid:ID, enum:CLASS#CONSTANT or"
          + " record:CLASS(COMPONENT, ...)";
  private static final String LONG = "long:";
  private static final String INTEGER = "int:";
  private static final String ID = "uuid:";
  private static final String ENUM = "enum:";
  private static final String RECORD = "record:";
  private static final int DEPTH_MAX = 16;

  private KeyText() {}

  /// The text of an encoded key.
  ///
  /// @throws Corrupt when the bytes are no encoding of a key
  public static String of(byte[] encoded) {
    var text = new StringBuilder();
    var in = new Input(encoded);
    write(in, text, 0);
    if (in.bytes.hasRemaining()) throw new Corrupt("a key has bytes behind its end");
    return text.toString();
  }

  private static void write(Input in, StringBuilder text, int depth) {
    if (depth > DEPTH_MAX) throw new Corrupt("a key nests deeper than " + DEPTH_MAX);
    try {
      byte kind = in.bytes.get();
      switch (kind) {
        case Keys.STRING -> text.append(quoted(in.text()));
        case Keys.LONG -> text.append(LONG).append(in.bytes.getLong());
        case Keys.INTEGER -> text.append(INTEGER).append(in.bytes.getInt());
        case Keys.ID -> text.append(ID).append(new UUID(in.bytes.getLong(), in.bytes.getLong()));
        case Keys.ENUM -> text.append(ENUM).append(in.text()).append('#').append(in.text());
        case Keys.RECORD -> {
          text.append(RECORD).append(in.text()).append('(');
          int count = in.length();
          for (int i = 0; i < count; i++) {
            if (i > 0) text.append(", ");
            write(in, text, depth + 1);
          }
          text.append(')');
        }
        default -> throw new Corrupt("a key begins with byte " + kind);
      }
    } catch (java.nio.BufferUnderflowException early) {
      throw new Corrupt("a key ends too early", early);
    }
  }

  private static String quoted(String text) {
    boolean isPlain = !text.isEmpty() && !isPrefixed(text);
    for (int i = 0; i < text.length() && isPlain; i++) isPlain = isWord(text.charAt(i));
    if (isPlain) return text;
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  private static boolean isWord(char c) {
    return c > ' ' && c != '"' && c != '(' && c != ')' && c != ',' && c != 0x7F;
  }

  private static boolean isPrefixed(String text) {
    for (String prefix : List.of(LONG, INTEGER, ID, ENUM, RECORD)) {
      if (text.startsWith(prefix)) return true;
    }
    return false;
  }

  /// The encoding of a key that an operator has written.
  ///
  /// @throws IllegalArgumentException with the forms of keys when it is none
  public static byte[] encoded(String text) {
    boolean isText = !text.isEmpty() && text.charAt(0) != '"' && !isPrefixed(text);
    if (isText) return Keys.encode(text); // a shell has removed the quotes of several words
    var parser = new Parser(text);
    byte[] key = parser.key(0);
    parser.end();
    if (key.length > Keys.KEY_BYTES_MAX) {
      throw new IllegalArgumentException(
          "the key takes " + key.length + " bytes; the most are " + Keys.KEY_BYTES_MAX);
    }
    return key;
  }

  private record Input(ByteBuffer bytes) {
    Input(byte[] bytes) {
      this(ByteBuffer.wrap(bytes));
    }

    int length() {
      int value = 0;
      for (int shift = 0; shift < 28; shift += 7) {
        byte next = bytes.get();
        value |= (next & 0x7F) << shift;
        if (next >= 0) return value;
      }
      throw new Corrupt("a key holds a malformed length");
    }

    String text() {
      int length = length();
      if (length > bytes.remaining()) throw new Corrupt("a key ends too early");
      var text = new byte[length];
      bytes.get(text);
      return new String(text, StandardCharsets.UTF_8);
    }
  }

  private static final class Parser {
    private final String text;
    private int at;

    Parser(String text) {
      this.text = text;
    }

    private IllegalArgumentException refusal(String why) {
      return new IllegalArgumentException(text + " is no key: " + why + "; " + FORMS);
    }

    void end() {
      if (at < text.length()) throw refusal("\"" + text.substring(at) + "\" is behind its end");
    }

    byte[] key(int depth) {
      if (depth > DEPTH_MAX) throw refusal("records nest deeper than " + DEPTH_MAX);
      if (at < text.length() && text.charAt(at) == '"') return Keys.encode(quotedText());
      String word = word();
      if (word.isEmpty()) throw refusal("a part of it is empty");
      try {
        if (word.startsWith(LONG)) {
          return Keys.encode(Long.valueOf(word.substring(LONG.length())));
        }
        if (word.startsWith(INTEGER)) {
          return Keys.encode(Integer.valueOf(word.substring(INTEGER.length())));
        }
        if (word.startsWith(ID)) return Keys.encode(UUID.fromString(word.substring(ID.length())));
      } catch (NumberFormatException none) {
        throw refusal("\"" + word + "\" has no number that fits");
      } catch (IllegalArgumentException none) {
        throw refusal("\"" + word + "\" is no UUID");
      }
      if (word.startsWith(ENUM)) return constant(word.substring(ENUM.length()));
      if (word.startsWith(RECORD)) return record(word.substring(RECORD.length()), depth);
      return Keys.encode(word);
    }

    private String word() {
      int from = at;
      while (at < text.length() && isWord(text.charAt(at))) at++;
      return text.substring(from, at);
    }

    private String quotedText() {
      var quoted = new StringBuilder();
      for (at++; at < text.length(); at++) {
        char c = text.charAt(at);
        if (c == '"') {
          at++;
          return quoted.toString();
        }
        if (c == '\\' && at + 1 < text.length()) c = text.charAt(++at);
        quoted.append(c);
      }
      throw refusal("a quote is not closed");
    }

    private byte[] constant(String word) {
      int mark = word.indexOf('#');
      if (mark <= 0 || mark == word.length() - 1) {
        throw refusal("\"" + word + "\" names no constant as CLASS#CONSTANT");
      }
      var out = new ByteArrayOutputStream();
      out.write(Keys.ENUM);
      Keys.writeText(word.substring(0, mark), out);
      Keys.writeText(word.substring(mark + 1), out);
      return out.toByteArray();
    }

    private byte[] record(String className, int depth) {
      if (className.isEmpty() || at >= text.length() || text.charAt(at) != '(') {
        throw refusal("a record's class has its components behind it, in parentheses");
      }
      at++;
      var components = new ArrayList<byte[]>();
      spaces();
      while (at < text.length() && text.charAt(at) != ')') {
        components.add(key(depth + 1));
        spaces();
        if (at < text.length() && text.charAt(at) == ',') {
          at++;
          spaces();
        } else if (at < text.length() && text.charAt(at) != ')') {
          throw refusal("a comma stands between two components");
        }
      }
      if (at >= text.length()) throw refusal("a parenthesis is not closed");
      at++;
      var out = new ByteArrayOutputStream();
      out.write(Keys.RECORD);
      Keys.writeText(className, out);
      Keys.writeLength(components.size(), out);
      components.forEach(out::writeBytes);
      return out.toByteArray();
    }

    private void spaces() {
      while (at < text.length() && text.charAt(at) == ' ') at++;
    }
  }
}
