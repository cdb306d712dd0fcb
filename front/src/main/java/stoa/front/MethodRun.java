package stoa.front;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Schedule;
import stoa.front.marshal.Reference;
import stoa.front.types.SharedMethod;
import stoa.spi.CallContext;
import stoa.spi.Collections;

/// The run of a user's method that a store has begun. It decides itself on the route of the
/// method's calls. The thread that runs the method uses it.
public interface MethodRun extends CallContext {
  /// Returns whether [#call] makes the calls on the objects of a store.
  boolean takes(SharedStoa stoa);

  /// Makes a call for the method.
  ///
  /// @throws Throwable what the called method throws
  @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable;

  /// Returns the reference of an object, if it is the object of the running method.
  @Nullable Reference referenceOf(Object object);

  @Override
  default <T> T schedule(@Nullable String name, Schedule schedule, T target) {
    return Scheduling.of(this::get, this::now, name, schedule, target);
  }

  @Override
  default boolean cancelTimer(String name, Object target) {
    Scheduling.checkName(name);
    var of = Scheduling.targetOf(target).stream();
    return Collections.installed().timers().cancel(this::get, of, name);
  }

  @Override
  default void tag(String tag, Object shared) {
    SharedListeners.tag(this::get, this::group, tag, shared);
  }

  @Override
  default boolean untag(String tag, Object shared) {
    return SharedListeners.untag(this::get, this::group, tag, shared);
  }

  /// Enters an object of the same group in the indexes that its class has now, or lets it leave all
  /// of them. The method is [stoa.Transactional]. An object that does not exist stays as it is.
  ///
  /// @param type the stored name of its type
  /// @param key its encoded key
  default void index(String type, byte[] key, Indexed indexed) {
    throw new UnsupportedOperationException("indexes are changed where the store is");
  }

  /// Returns the ids of the indexes in the code that executes the calls on a type here.
  default List<String> indexes(String type) {
    throw new UnsupportedOperationException("indexes are kept where the store is");
  }

  /// Has a judge look at objects of the same group, as of the moment at which the method reads.
  ///
  /// @param type the stored name of their type
  /// @param keys their encoded keys
  /// @param members the names of the fields and accessors for which the judge asks
  /// @return what the judge returned for each of them; null for one that does not exist then
  /// @throws stoa.CallFailed when an accessor throws, naming the object and the accessor
  default List<@Nullable String> judged(
      String type, List<byte[]> keys, List<String> members, Judge judge) {
    throw new UnsupportedOperationException("queries are answered where the store is");
  }

  /// Looks at an object for a query. Any thread may use it.
  @FunctionalInterface
  interface Judge {
    /// Returns a text about an object, or null.
    @Nullable String judge(Looked object);
  }

  /// An object at which a judge looks.
  interface Looked {
    /// Returns what the object has in a field with an index, or in an accessor, of a name: in the
    /// form of the index.
    String value(String member);

    /// Returns the same without an end to its length.
    String wholeValue(String member);
  }

  /// Returns the encoded key of the object whose method runs.
  default byte[] key() {
    throw new UnsupportedOperationException("queries are answered where the store is");
  }

  /// Returns the group of an object.
  ///
  /// @param type the stored name of its type
  /// @param key its encoded key
  default int group(String type, byte[] key) {
    return 0;
  }

  /// Whether the indexes of its class have an object.
  enum Indexed {
    /// The indexes have it.
    ENTERED,
    /// The indexes do not have it.
    LEFT
  }

  /// Returns the run on the current thread, or null.
  static @Nullable MethodRun current() {
    return CallContext.CURRENT.isBound() && CallContext.CURRENT.get() instanceof MethodRun running
        ? running
        : null;
  }

  /// Refuses an operation that no method of a shared object may use.
  ///
  /// @throws IllegalStateException when a method runs on this thread
  static void refuse(String what) {
    if (!CallContext.CURRENT.isBound()) return;
    CallContext context = CallContext.CURRENT.get();
    if (context instanceof MethodRun) throw refused(what);
    context.refuseOutside(what);
  }

  /// Refuses a transaction in a method of a shared object. A method that runs outside of all stores
  /// may begin one: no object takes part in it.
  ///
  /// @throws IllegalStateException when a method of a store runs on this thread
  static void refuseTransaction() {
    if (current() != null) throw refused("begin a transaction");
  }

  /// Refuses like [#refuse], also where the method runs at clients.
  static void refuseAnywhere(String what) {
    if (CallContext.CURRENT.isBound()) throw refused(what);
  }

  private static IllegalStateException refused(String what) {
    return new IllegalStateException("a method of a shared object cannot " + what);
  }
}
