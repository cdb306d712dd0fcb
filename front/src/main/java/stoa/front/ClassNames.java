package stoa.front;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Shared;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// The names of a dictionary: those of classes and of methods.
public final class ClassNames {
  /// In front of a type's stored name and the names of its classes, so that a reference can be
  /// resolved before a class is used in this process.
  public static final String CLASS = "class ";

  /// In front of the name of a class that facades have admitted.
  public static final String ADMITTED = "admitted ";

  /// In front of a type's stored name and a method of it.
  public static final String METHOD = "method ";

  private ClassNames() {}

  /// What all names of the methods of a type begin with.
  ///
  /// @param type the stored name of the type
  public static String methods(String type) {
    return METHOD + type + "#";
  }

  /// The name of a method.
  public static String method(SharedType type, SharedMethod method) {
    return methods(type.name()) + method.id();
  }

  /// Those of some names that begin with a prefix, without it, in their order.
  public static List<String> after(String prefix, List<String> names) {
    return names.stream()
        .filter(name -> name.startsWith(prefix))
        .map(name -> name.substring(prefix.length()))
        .toList();
  }

  /// Returns whether a face is the first of those that are still there.
  ///
  /// @param classNames the faces under which objects of the type were used, the first before others
  public static boolean isFirstFace(SharedType type, List<String> classNames) {
    String name = type.face().getName();
    for (String className : classNames) {
      if (className.equals(name)) return true;
      if (face(className, type, type.face().getClassLoader()) != null) return false;
    }
    return true;
  }

  /// A class that was used under the name of a type, when it is another face of the same objects.
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
