package stoa.front;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Shared;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// The names in a dictionary: classes and methods.
public final class ClassNames {
  /// The prefix of a type's stored name and the names of its classes, so that a process can resolve
  /// a reference before it uses a class.
  public static final String CLASS = "class ";

  /// Stands between a type's stored name and the name of a class of it that is not the first.
  public static final String FACE = " as ";

  /// The prefix of a type's stored name and the id of an index that a version of its class has.
  public static final String INDEX = "index ";

  /// The prefix of the name of a class that facades have admitted.
  public static final String ADMITTED = "admitted ";

  /// The prefix of a type's stored name and one of its methods.
  public static final String METHOD = "method ";

  /// The prefix of the name of a class of handlers, where the names of types and of such classes
  /// stand together. No type of a program has such a name.
  public static final String HANDLER = "stoa/handler/";

  private ClassNames() {}

  /// Returns the common prefix of the names of a type's methods.
  ///
  /// @param type the stored name of the type
  public static String methods(String type) {
    return METHOD + type + "#";
  }

  /// Returns the name of a method.
  public static String method(SharedType type, SharedMethod method) {
    return methods(type.name()) + method.id();
  }

  /// Returns the names that begin with a prefix, without the prefix, in their order.
  public static List<String> after(String prefix, List<String> names) {
    return names.stream()
        .filter(name -> name.startsWith(prefix))
        .map(name -> name.substring(prefix.length()))
        .toList();
  }

  /// Returns whether a face is the first of those that still exist.
  ///
  /// @param classNames the faces through which callers have used objects of the type, oldest first
  public static boolean isFirstFace(SharedType type, List<String> classNames) {
    String name = type.face().getName();
    for (String className : classNames) {
      if (className.equals(name)) return true;
      if (face(className, type, type.face().getClassLoader()) != null) return false;
    }
    return true;
  }

  /// Returns another face of the same objects by the name of its class; null when the class is not
  /// one.
  public static @Nullable SharedType face(
      String className, SharedType type, @Nullable ClassLoader loader) {
    try {
      Class<?> face = Class.forName(className, false, loader);
      Shared shared = face.getDeclaredAnnotation(Shared.class);
      if (shared == null || !face.isAssignableFrom(type.implementation())) return null;
      SharedType found = SharedType.of(face);
      boolean same =
          found.name().equals(type.name()) && found.implementation() == type.implementation();
      return same ? found : null;
    } catch (ClassNotFoundException gone) {
      return null; // it was renamed
    }
  }
}
