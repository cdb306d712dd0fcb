package stoa.client;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.Corrupt;
import stoa.NotShareable;
import stoa.Shared;
import stoa.front.ClassNames;
import stoa.front.SharedBlob;
import stoa.front.SharedStoa;
import stoa.front.marshal.Marshaller;
import stoa.front.types.HandlerType;
import stoa.front.types.Platform;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.wire.proto.TypeNames;

/// The shared classes that a client has used, as the server knows them. Thread-safe.
final class RemoteTypes {
  private final RemotePart stoa;
  private final RemoteNames names;
  private final Marshaller marshaller;
  private final ClassLoader loader;
  private final int callBytesMax;
  private final ConcurrentHashMap<SharedType, RemoteType> types = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, RemoteType> firsts = new ConcurrentHashMap<>();
  private final ReentrantLock registering = new ReentrantLock();
  private volatile boolean blobsKnown;
  private final Set<Class<?>> admitted = ConcurrentHashMap.newKeySet();
  private final Set<String> used = ConcurrentHashMap.newKeySet();

  /// @param stoa the part of the store that has them
  RemoteTypes(
      RemotePart stoa,
      RemoteNames names,
      Marshaller marshaller,
      ClassLoader loader,
      int callBytesMax) {
    this.stoa = stoa;
    this.names = names;
    this.marshaller = marshaller;
    this.loader = loader;
    this.callBytesMax = callBytesMax;
  }

  /// Returns the most bytes of a call.
  int callBytesMax() {
    return callBytesMax;
  }

  /// Returns the type of a class or interface.
  ///
  /// @throws NotShareable when it cannot be shared, or the server does not have it
  RemoteType of(Class<?> face) {
    SharedType shared = SharedType.of(face);
    RemoteType known = types.get(shared);
    return known == null ? register(shared) : known;
  }

  private RemoteType register(SharedType shared) {
    if (shared.name().equals(SharedStoa.BLOBS)) {
      throw new NotShareable(
          shared.face().getName()
              + " is stored as "
              + shared.name()
              + "; give it another name in @Shared");
    }
    registering.lock();
    try {
      RemoteType known = types.get(shared);
      if (known != null) return known;
      announce(shared);
      marshaller.register(shared);
      var made = new RemoteType(stoa, shared, names, marshaller, callBytesMax);
      types.put(shared, made);
      firsts.putIfAbsent(shared.name(), made);
      return made;
    } finally {
      registering.unlock();
    }
  }

  /// Announces a shared class, which goes to the server when the store has never had it and the
  /// server takes it.
  private void announce(SharedType shared) {
    try {
      announce(shared.face(), false);
    } catch (NotShareable absent) {
      names.refresh();
      boolean isKnown = !candidates(shared.name()).isEmpty();
      if (isKnown || !stoa.takesClasses()) throw absent;
      stoa.bring(shared.name(), shared.implementation(), shared.face());
      announce(shared.face(), false);
    }
  }

  private void announce(Class<?> type, boolean admitting) {
    names.announce(TypeNames.newBuilder().setClassName(type.getName()).setAdmitted(admitting));
  }

  /// Lets the server use its own class of a name, which this process need not have.
  void use(String className) {
    if (used.contains(className)) return;
    names.announce(TypeNames.newBuilder().setClassName(className));
    used.add(className);
  }

  /// Registers blobs.
  void blobs() {
    if (blobsKnown) return;
    announce(Blob.class, false);
    marshaller.register(SharedBlob.class);
    blobsKnown = true;
  }

  /// Admits the classes that facades of any client have admitted; returns whether there were new
  /// ones.
  boolean readmit() {
    boolean more = false;
    for (String name : names.after(ClassNames.ADMITTED)) {
      try {
        Class<?> type = Class.forName(name, false, loader);
        if (!admitted.add(type)) continue;
        marshaller.register(type);
        more = true;
      } catch (ClassNotFoundException | NotShareable gone) {
        // Reading an object with a value of such a class reports it.
      }
    }
    return more;
  }

  /// Learns the classes that other clients have admitted since; returns whether there were new
  /// ones.
  boolean learn() {
    names.refresh();
    return readmit();
  }

  /// Registers classes of values though no declaration names them.
  void extra(List<Class<?>> extras) {
    for (Class<?> type : extras) {
      if (!Platform.has(type)) announce(type, false);
      marshaller.register(type);
    }
  }

  /// Registers a class, as [stoa.spi.Host#admit] does.
  void admit(Class<?> type) {
    if (Platform.has(type)) {
      marshaller.register(type);
      return;
    }
    if (type.isAnnotationPresent(Shared.class)) {
      var _ = of(type);
      return;
    }
    if (HandlerType.mayBe(type)) {
      admit(HandlerType.of(type));
      return;
    }
    if (admitted.contains(type)) return;
    announce(type, true);
    marshaller.register(type);
    admitted.add(type);
  }

  /// Registers a class of handlers, which goes to the server when the store has never had it and
  /// the server takes it.
  void admit(HandlerType handler) {
    Class<?> type = handler.implementation();
    if (Platform.has(type) || admitted.contains(type)) return;
    try {
      announce(type, true);
    } catch (NotShareable absent) {
      if (!stoa.takesClasses()) throw absent;
      stoa.bring(ClassNames.HANDLER + type.getName(), type, type);
      announce(type, true);
    }
    marshaller.register(type);
    admitted.add(type);
  }

  /// Uses the classes that another part uses; returns whether there were new ones.
  boolean learn(RemoteTypes other) {
    boolean more = false;
    for (SharedType shared : other.types.keySet()) {
      more |= !types.containsKey(shared);
      var _ = of(shared.face());
    }
    for (Class<?> type : other.admitted) {
      more |= !admitted.contains(type);
      admit(type);
    }
    return more;
  }

  /// Registers the classes that a reference to an object of another part names: its class, and the
  /// element classes of a collection.
  void visit(SharedType shared, RemoteTypes home) {
    var _ = of(shared.face());
    for (Class<?> type : home.admitted) admit(type);
  }

  /// Returns the type of a reference, through the last class stored under its name.
  RemoteType named(String name) {
    RemoteType known = firsts.get(name);
    if (known != null) return known;
    List<String> candidates = candidates(name);
    if (candidates.isEmpty()) {
      names.refresh();
      candidates = candidates(name);
    }
    for (String className : candidates) {
      try {
        var _ = of(Class.forName(className, false, loader));
        return Objects.requireNonNull(firsts.get(name));
      } catch (ClassNotFoundException gone) {
        // Its class has been renamed: an older or newer name may be there.
      }
    }
    throw new NotShareable(
        "no class for objects stored as "
            + name
            + (candidates.isEmpty() ? "" : ", once " + candidates.getFirst())
            + "; use the class once before, or put it on the class path");
  }

  private List<String> candidates(String name) {
    return names.after(ClassNames.CLASS + name + " ").reversed();
  }

  /// Returns a method that one of the faces of a type has called.
  SharedMethod method(RemoteType type, String id) {
    SharedMethod own = find(type.shared(), id);
    if (own != null) return own;
    for (SharedType face : types.keySet()) {
      SharedMethod method = face.name().equals(type.shared().name()) ? find(face, id) : null;
      if (method != null) return method;
    }
    for (String className : candidates(type.shared().name())) {
      try {
        SharedMethod method = find(of(Class.forName(className, false, loader)).shared(), id);
        if (method != null) return method;
      } catch (ClassNotFoundException | NotShareable gone) {
        // Another face may have it.
      }
    }
    throw new Corrupt("no class of " + type.shared().name() + " has a method " + id);
  }

  private static @Nullable SharedMethod find(SharedType type, String id) {
    for (SharedMethod method : type.methods()) {
      if (method.id().equals(id)) return method;
    }
    return null;
  }
}
