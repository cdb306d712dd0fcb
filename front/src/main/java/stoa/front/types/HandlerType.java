package stoa.front.types;

import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import stoa.KeyHandler;
import stoa.NotShareable;

/// A checked class of handlers of the key-value store. The check is that of shared classes: its
/// code runs in the store and must be the same in a replay.
///
/// Immutable, thread-safe, and the same instance for the same class.
public final class HandlerType {
  private static final ClassValue<HandlerType> TYPES =
      new ClassValue<>() {
        @Override
        protected HandlerType computeValue(Class<?> type) {
          return new HandlerType(type);
        }
      };

  private final Class<?> implementation;
  private final Set<Class<?>> named = new LinkedHashSet<>();

  private HandlerType(Class<?> type) {
    implementation = type;
    check(type);
    named.add(type);
    for (Class<?> c = type; c != null && !Platform.has(c); c = c.getSuperclass()) {
      for (Type i : c.getGenericInterfaces()) nameArguments(i);
    }
    named.addAll(Verifier.verify(type, type, List.of()));
  }

  /// Returns the type of a class of handlers.
  ///
  /// @throws NotShareable naming the class, the member and the remedy
  public static HandlerType of(Class<?> type) {
    return TYPES.get(type);
  }

  /// Returns whether a class is one of handlers that a program can register, as far as its
  /// declaration tells.
  public static boolean mayBe(Class<?> type) {
    if (!KeyHandler.class.isAssignableFrom(type)) return false;
    try {
      check(type);
      return true;
    } catch (NotShareable not) {
      return false;
    }
  }

  /// Returns the class.
  public Class<?> implementation() {
    return implementation;
  }

  /// Returns the class and the classes that its declaration names: its values and results, as far
  /// as the declaration names them, and the exceptions that its code creates.
  public Set<Class<?>> named() {
    return Collections.unmodifiableSet(named);
  }

  private void nameArguments(Type type) {
    if (!(type instanceof ParameterizedType generic) || generic.getRawType() != KeyHandler.class) {
      return;
    }
    for (Type argument : generic.getActualTypeArguments()) {
      Class<?> erased = Hashing.erasure(argument);
      if (!Platform.has(erased)) named.add(erased);
    }
  }

  private static void check(Class<?> type) {
    if (!KeyHandler.class.isAssignableFrom(type)) {
      throw new NotShareable(type.getName() + " is no KeyHandler; let it implement that");
    }
    if (type.isHidden() || type.isSynthetic() || type.isAnonymousClass() || type.isLocalClass()) {
      throw new NotShareable(
          type.getName()
              + " has no name by which the store could find it again; write a class or a record at"
              + " the top level or static in another");
    }
    if (type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
      throw new NotShareable(type.getName() + " is abstract; register an instance of a class");
    }
    if (type.getEnclosingClass() != null && !Modifier.isStatic(type.getModifiers())) {
      throw new NotShareable(
          type.getName()
              + " is an inner class and needs an instance of its outer class; make it static");
    }
  }
}
