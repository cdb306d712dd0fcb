package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.NotShareable;
import stoa.Shared;
import stoa.base.Decoder;
import stoa.front.CallNumbers;
import stoa.front.ClassNames;
import stoa.front.marshal.Loss;
import stoa.front.marshal.TypeIds;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// The classes and interfaces through which callers use the objects of one stored name, which have
/// one implementation (vCorfu, section 4.4: a list is seen as a queue and as a stack). Thread-safe.
final class Faces {
  private final String name;
  private final Dictionary dictionary;
  private final CopyOnWriteArrayList<ObjectType> faces = new CopyOnWriteArrayList<>();

  // By the numbers of the dictionary.
  private final ConcurrentHashMap<Integer, ObjectType.Called> methods = new ConcurrentHashMap<>();

  Faces(String name, Dictionary dictionary) {
    this.name = name;
    this.dictionary = dictionary;
  }

  String name() {
    return name;
  }

  /// Returns the face of a shared type, or null.
  @Nullable ObjectType find(SharedType shared) {
    for (ObjectType face : faces) {
      if (face.shared() == shared) return face;
    }
    return null;
  }

  /// Returns all faces.
  List<SharedType> all() {
    return faces.stream().map(ObjectType::shared).toList();
  }

  /// Returns the face that the store met first.
  ObjectType first() {
    return faces.getFirst();
  }

  /// Adds a face.
  ///
  /// @throws NotShareable when it does not fit the others
  void add(ObjectType type) {
    for (ObjectType other : faces) check(other.shared(), type.shared());
    faces.add(type);
  }

  private void check(SharedType one, SharedType other) {
    if (one.implementation() != other.implementation()) {
      throw new NotShareable(
          other.face().getName()
              + " and "
              + one.implementation().getName()
              + " are both stored as "
              + name
              + "; give one of them another name in @Shared");
    }
    Shared a = one.face().getDeclaredAnnotation(Shared.class);
    Shared b = other.face().getDeclaredAnnotation(Shared.class);
    if (!a.key().equals(b.key()) || a.order() != b.order() || a.placement() != b.placement()) {
      throw new NotShareable(
          pair(one, other)
              + ", with another key, order or placement in @Shared; make them the same");
    }
    for (SharedMethod method : other.methods()) {
      if (!has(one, method.id())) continue;
      SharedMethod same = one.method(method.id());
      if (same.name().equals(method.name())
          && same.parameterTypes().equals(method.parameterTypes())) {
        continue;
      }
      throw new NotShareable(
          pair(one, other)
              + ", and call different methods \""
              + method.id()
              + "\"; give one of them another @MethodId");
    }
  }

  private String pair(SharedType one, SharedType other) {
    return one.face().getName() + " and " + other.face().getName() + " are both stored as " + name;
  }

  /// Returns whether one of the faces has a method.
  boolean hasMethod(String id) {
    return faces.stream().anyMatch(face -> has(face.shared(), id));
  }

  private static boolean has(SharedType type, String id) {
    return type.methods().stream().anyMatch(method -> method.id().equals(id));
  }

  /// Checks that the classes have every method that the log calls.
  ///
  /// @param ids says which losses are accepted
  /// @return the names for the dictionary of those that are accepted now
  /// @throws NotShareable when the log has calls of methods that the classes no longer have
  List<String> checkMethods(TypeIds ids) {
    Set<String> known = Loss.accepted(ids.names());
    var accepted = new ArrayList<String>();
    for (String id : dictionary.after(ClassNames.METHOD + name + "#")) {
      boolean removed = faces.stream().anyMatch(face -> face.shared().hasRemoved(id));
      boolean lost = !removed && faces.stream().noneMatch(face -> has(face.shared(), id));
      String loss = Loss.removed(name, id);
      boolean offered = ids.accepted().contains(loss) && !known.contains(loss);
      if (offered && !lost) {
        throw new NotShareable(
            "\"" + loss + "\" is accepted, and the classes have the method; do not accept it");
      }
      if (offered) {
        accepted.add(Loss.accepted(loss, name));
      } else if (lost && !known.contains(loss)) {
        throw new NotShareable(
            "the history of "
                + name
                + " holds calls of "
                + id
                + ", which "
                + first().shared().implementation().getName()
                + " does not have; keep the method, or give its successor @MethodId(\""
                + id
                + "\"), or say @Removed(\""
                + id
                + "\") at the class; or accept the loss \""
                + loss
                + "\"");
      }
    }
    return accepted;
  }

  /// Returns the method that a put calls, or null when the put only creates.
  ObjectType.@Nullable Called called(Decoder put) {
    int number = (int) put.varint();
    if (!CallNumbers.isMethod(number)) return null;
    ObjectType.Called known = methods.get(number);
    if (known != null) return known;
    String logged = dictionary.nameOf(number - 1);
    String prefix = ClassNames.METHOD + name + "#";
    if (logged == null || !logged.startsWith(prefix)) {
      throw new Corrupt("a call of method " + number + " on " + name + ", not its own");
    }
    String id = logged.substring(prefix.length());
    ObjectType type = first();
    for (ObjectType face : List.copyOf(faces)) {
      if (has(face.shared(), id)) type = face;
    }
    var called = new ObjectType.Called(type, type.shared().method(id));
    methods.put(number, called);
    return called;
  }
}
