package stoa.objects;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.KeyHandler;
import stoa.NotShareable;
import stoa.Shared;
import stoa.StoaException;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.front.ClassNames;
import stoa.front.code.CodeVersion;
import stoa.front.types.HandlerType;
import stoa.front.types.SharedType;

/// The exchange of code between the servers of a store: a group whose leader lacks a class gets the
/// code from another group that executes it, or from a server that has the class on its class path.
/// Questions and answers in bytes.
public final class CodeOfOthers {
  /*
   * A question: 'k', version u8: 1, the name of the class text. An answer: 0 when the server has no such code; or 1
   * when a group that it leads executes the code, 2 when the class is on its class path; then the name of the type
   * text, and sized and deflated: the number of files varint, and of each the name of its class text, the file sized.
   */
  private static final int MARK = 'k';
  private static final int VERSION = 1;
  private static final byte[] NONE = {0};
  private static final int EXECUTED = 1;
  private static final int ON_CLASS_PATH = 2;

  // The most bytes of an answer.
  private static final int ANSWER_BYTES_MAX = 30 << 20;

  private CodeOfOthers() {}

  /// Asks the other servers. Thread-safe; may wait for them.
  @FunctionalInterface
  public interface Source {
    /// Returns the code that has a class; null when no server that answers has it. Code that a
    /// group executes goes before code on a class path.
    @Nullable Found find(String className);
  }

  /// The code of a type, or of a class of handlers.
  ///
  /// @param type the stored name of the type; or [ClassNames#HANDLER] and the name of the class of
  ///   handlers
  /// @param files the class files by the binary names of their classes
  /// @param executed whether a group of the store executes it
  public record Found(String type, SortedMap<String, byte[]> files, boolean executed) {
    /// Creates it.
    public Found {
      files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
    }
  }

  /// Returns the question for a class.
  public static byte[] question(String className) {
    return new Encoder(className.length() + 16).u8(MARK).u8(VERSION).text(className).toBytes();
  }

  /// Returns whether bytes are a question of this kind.
  public static boolean isQuestion(byte[] bytes) {
    return bytes.length > 1 && bytes[0] == MARK;
  }

  /// Returns the answer of a server.
  ///
  /// @param classes finds the classes on its class path
  /// @param groups the code of the groups that it leads
  /// @throws IllegalArgumentException when this program does not understand the question
  public static byte[] answer(byte[] question, ClassLoader classes, Iterable<CodeService> groups) {
    var in = new Decoder(question, 1, question.length);
    int version = in.u8();
    if (version != VERSION) {
      throw new IllegalArgumentException("a question of version " + version + "; this is of 1");
    }
    String className = in.text();
    for (CodeService group : groups) {
      try {
        Found executed = group.find(className);
        if (executed != null) return encoded(executed);
      } catch (StoaException away) {
        // Another server leads the group by now.
      }
    }
    Found found = onClassPath(className, classes);
    return found == null ? NONE.clone() : encoded(found);
  }

  /// Returns the code of a class of the program that is shared, or that is one of handlers; null
  /// when there is no such class.
  private static @Nullable Found onClassPath(String className, ClassLoader classes) {
    try {
      Class<?> type = Class.forName(className, false, classes);
      if (type.isAnnotationPresent(Shared.class)) {
        SharedType shared = SharedType.of(type);
        return new Found(shared.name(), files(shared), false);
      }
      if (!KeyHandler.class.isAssignableFrom(type)) return null;
      Class<?> handler = HandlerType.of(type).implementation();
      return new Found(ClassNames.HANDLER + className, CodeVersion.of(handler).files(), false);
    } catch (ClassNotFoundException | LinkageError | NotShareable none) {
      return null;
    }
  }

  /// Returns the class files that a type needs.
  static SortedMap<String, byte[]> files(SharedType type) {
    var files = new TreeMap<>(CodeVersion.of(type.implementation()).files());
    files.putAll(CodeVersion.of(type.face()).files());
    return files;
  }

  private static byte[] encoded(Found found) {
    var files = new Encoder(1 << 16).varint(found.files.size());
    found.files.forEach((name, file) -> files.text(name).sized(file));
    byte[] deflated = Codes.deflated(files.toBytes());
    if (deflated.length > ANSWER_BYTES_MAX) return NONE.clone();
    return new Encoder(deflated.length + 256)
        .u8(found.executed ? EXECUTED : ON_CLASS_PATH)
        .text(found.type)
        .sized(deflated)
        .toBytes();
  }

  /// Returns the code in an answer; null when the server has none.
  public static @Nullable Found found(byte[] answer) {
    var in = new Decoder(answer);
    int kind = in.u8();
    if (kind == NONE[0]) return null;
    String type = in.text();
    var content = new Decoder(Codes.inflated(in.sized()));
    var files = new TreeMap<String, byte[]>();
    for (int left = content.count(); left > 0; left--) files.put(content.text(), content.sized());
    return new Found(type, files, kind == EXECUTED);
  }
}
