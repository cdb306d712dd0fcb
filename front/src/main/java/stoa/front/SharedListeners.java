package stoa.front;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import stoa.Changes;
import stoa.Listeners;
import stoa.Listening;
import stoa.LogAddress;
import stoa.ObjectEvent;
import stoa.ObjectListener;
import stoa.Snapshot;
import stoa.StreamStore;
import stoa.base.Key;
import stoa.base.Texts;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.spi.Collections;
import stoa.spi.ListenerObjects;

/// The listeners of objects. Thread-safe.
///
/// @param stoa the store
record SharedListeners(SharedStoa stoa) implements Listeners {
  private static ListenerObjects objects() {
    return Collections.installed().listeners();
  }

  private ListenerObjects.Groups groups() {
    return (type, key) -> stoa.service().group(new Key(type, key, type));
  }

  @Override
  public void listen(String name, Changes<?> heard, ObjectListener listener) {
    check(name, "the name of a listener");
    Objects.requireNonNull(heard, "what the listener hears is null");
    MethodRun.refuse("begin a listener");
    if (heard.detail() != Changes.Detail.CALLS) {
      throw new IllegalArgumentException(
          "a listener hears calls and their arguments, not answers or states; read a change stream"
              + " (Stoa.changes) for these");
    }
    // The snapshot holds the log from here on, until the listener does.
    try (Snapshot _ = stoa.snapshot()) {
      LogAddress now = stoa.service().streams().tail();
      LogAddress after =
          switch (heard.start()) {
            case Changes.Start.Now() -> now;
            case Changes.Start.After(LogAddress token) -> token;
            case Changes.Start.Beginning() -> StreamStore.BEGINNING;
            case Changes.Start.Present() ->
                throw new IllegalArgumentException(
                    "a listener hears no present states; begin it with fromBeginning, or read a"
                        + " change stream (Stoa.changes)");
          };
      long passUntil = heard.start() instanceof Changes.Start.Beginning ? now.counter() : 0;
      begin(name, what(heard, passUntil), listener, after);
    }
  }

  private ListenerObjects.Selection what(Changes<?> heard, long passUntil) {
    Object object = heard.object();
    if (object != null) {
      SharedCall live = stoa.changing(object);
      return new ListenerObjects.Selection(live.key().space(), live.key().name(), null, passUntil);
    }
    Class<?> type = heard.type();
    if (type == null) {
      throw new IllegalArgumentException(
          "a listener hears a type, an object or a tag, not everything; begin one for each type");
    }
    return new ListenerObjects.Selection(
        stoa.service().changes().typeOf(type), null, null, passUntil);
  }

  @Override
  public void listenToTag(String name, String tag, ObjectListener listener) {
    check(name, "the name of a listener");
    check(tag, "the name of a tag");
    MethodRun.refuse("begin a listener");
    var heard = new ListenerObjects.Selection(null, null, tag, 0);
    try (Snapshot _ = stoa.snapshot()) { // it holds the log, as in the other method
      begin(name, heard, listener, stoa.service().streams().tail());
    }
  }

  private void begin(
      String name, ListenerObjects.Selection heard, ObjectListener listener, LogAddress after) {
    Objects.requireNonNull(listener, "the listener is null");
    var _ = stoa.own(listener);
    Scheduling.Target target = Scheduling.targetOf(listener);
    SharedMethod method = method(target.type());
    var called =
        new ListenerObjects.Target(
            target.key().space(),
            target.type().face().getName(),
            target.key().name(),
            target.generation(),
            method.id());
    objects().listen(stoa, stoa.service().groups(), groups(), name, heard, called, after);
  }

  /// Returns the method of a class that receives the events.
  private static SharedMethod method(SharedType type) {
    for (SharedMethod method : type.methods()) {
      Method own = method.method();
      boolean receives =
          own.getName().equals("on")
              && own.getParameterCount() == 1
              && own.getParameterTypes()[0] == ObjectEvent.class;
      if (!receives) continue;
      boolean fits =
          switch (method.kind()) {
            case ACCESSOR, TRANSACTION, READING_TRANSACTION -> false;
            case MUTATOR, UPDATE -> !method.awaits() && !type.isPlaced();
          };
      if (fits) return method;
      throw new IllegalArgumentException(
          "the store cannot call "
              + method
              + " for each event: the method must not only read, be a transaction or wait for a"
              + " condition, and its object must not be at clients");
    }
    throw new IllegalArgumentException(type.face().getName() + " has no method on(ObjectEvent)");
  }

  @Override
  public boolean stop(String name) {
    check(name, "the name of a listener");
    MethodRun.refuse("end a listener");
    return objects().stop(stoa, stoa.service().groups(), groups(), name);
  }

  @Override
  public List<Listening> all() {
    MethodRun.refuse("list listeners");
    return objects().all(stoa, stoa.service().groups(), groups(), stoa.service().loader());
  }

  @Override
  public void tag(String tag, Object shared) {
    MethodRun.refuse("tag an object through a Stoa; use Call.tag");
    tag(stoa::get, groups(), tag, own(shared));
  }

  @Override
  public boolean untag(String tag, Object shared) {
    MethodRun.refuse("untag an object through a Stoa; use Call.untag");
    return untag(stoa::get, groups(), tag, own(shared));
  }

  private Object own(Object shared) {
    var _ = stoa.own(Objects.requireNonNull(shared, "the object is null"));
    return shared;
  }

  static void tag(
      stoa.spi.TimerObjects.Opening opening, ListenerObjects.Groups of, String tag, Object shared) {
    check(tag, "the name of a tag");
    Key key = Scheduling.targetOf(shared).key();
    objects().tag(opening, of, tag, key.space(), key.name());
  }

  static boolean untag(
      stoa.spi.TimerObjects.Opening opening, ListenerObjects.Groups of, String tag, Object shared) {
    check(tag, "the name of a tag");
    Key key = Scheduling.targetOf(shared).key();
    return objects().untag(opening, of, tag, key.space(), key.name());
  }

  private static void check(String name, String what) {
    Texts.check(name, what);
    if (!name.isEmpty() && name.length() <= NAME_CHARS_MAX) return;
    throw new IllegalArgumentException(
        what + " has 1 to " + NAME_CHARS_MAX + " characters, not " + name.length());
  }
}
