package stoa.listening;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.Listening;
import stoa.LogAddress;
import stoa.Ref;
import stoa.Stoa;
import stoa.View;
import stoa.front.types.Keys;
import stoa.spi.ListenerObjects;
import stoa.spi.TimerObjects;

/// The listeners' objects, for the caller's side and for engines. Stateless.
public final class InstalledListeners implements ListenerObjects {
  private static final String ALL = "all";

  /// For [stoa.collections.InstalledCollections].
  public InstalledListeners() {}

  /// Returns the first key of a name whose object is in a group.
  private static String keyIn(Groups of, int group, String type, String name) {
    for (int number = 0; ; number++) {
      String key = name + " " + number;
      if (of.of(type, Keys.encode(key)) == group) return key;
    }
  }

  private static DeliveryObject delivery(Stoa stoa, Groups of, int group, String name) {
    return stoa.get(DeliveryObject.class, keyIn(of, group, DeliveryObject.NAME, name));
  }

  @Override
  public void listen(
      Stoa stoa,
      int groups,
      Groups of,
      String name,
      Selection heard,
      Target target,
      LogAddress after) {
    var _ =
        stoa.<Boolean, RuntimeException>transact(() -> {
          stoa.get(ListenersObject.class, ALL).add(new ListenersObject.Entry(name, heard, target));
          for (int group = 0; group < groups; group++) {
            delivery(stoa, of, group, name).begin(heard, target, after);
          }
          return true;
        });
  }

  @Override
  public boolean stop(Stoa stoa, int groups, Groups of, String name) {
    return stoa.<Boolean, RuntimeException>transact(() -> {
      if (!stoa.get(ListenersObject.class, ALL).remove(name)) return false;
      for (int group = 0; group < groups; group++) {
        delivery(stoa, of, group, name).end();
      }
      return true;
    });
  }

  @Override
  public List<Listening> all(Stoa stoa, int groups, Groups of, ClassLoader keys) {
    var found = new ArrayList<Listening>();
    var known = stoa.find(ListenersObject.class, ALL);
    if (known.isEmpty()) return found;
    for (ListenersObject.Entry entry : known.get().all()) {
      LogAddress position = null;
      long told = 0;
      long failures = 0;
      String last = null;
      boolean over = false;
      for (int group = 0; group < groups; group++) {
        DeliveryObject.Shown part = delivery(stoa, of, group, entry.name()).shown();
        if (position == null || part.position().compareTo(position) < 0) position = part.position();
        told += part.told();
        failures += part.failures();
        if (part.last() != null) last = part.last();
        over |= part.over();
      }
      Target target = entry.target();
      Ref<?> listener = new Ref<>(target.type(), Keys.decode(target.key(), keys));
      found.add(
          new Listening(
              entry.name(),
              words(entry.heard(), keys),
              listener,
              told,
              Objects.requireNonNull(position),
              failures,
              last,
              over));
    }
    return found;
  }

  private static String words(Selection heard, ClassLoader keys) {
    String type = heard.type();
    if (type == null) return "the tag " + heard.tag();
    byte[] key = heard.key();
    return key == null
        ? "all objects of " + type
        : new Ref<>(type, Keys.decode(key, keys)).toString();
  }

  // ---- tags

  private static TagObject tagOf(
      TimerObjects.Opening objects, Groups of, String tag, String type, byte[] key) {
    return objects.get(TagObject.class, keyIn(of, of.of(type, key), TagObject.NAME, tag));
  }

  @Override
  public void tag(TimerObjects.Opening objects, Groups of, String tag, String type, byte[] key) {
    tagOf(objects, of, tag, type, key).add(text(type, key));
  }

  @Override
  public boolean untag(
      TimerObjects.Opening objects, Groups of, String tag, String type, byte[] key) {
    return tagOf(objects, of, tag, type, key).remove(text(type, key));
  }

  @Override
  public List<String> tagged(Stoa stoa, Groups of, int group, String tag, LogAddress at) {
    String key = keyIn(of, group, TagObject.NAME, tag);
    if (at.counter() == 0 || stoa.find(TagObject.class, key).isEmpty()) return List.of();
    return stoa.view(TagObject.class, new Ref<>(TagObject.NAME, key), new View.AtAddress(at)).all();
  }

  @Override
  public byte[] keeper(Groups of, int group, String tag) {
    return Keys.encode(keyIn(of, group, TagObject.NAME, tag));
  }

  @Override
  public String text(String type, byte[] key) {
    return type + " " + new String(key, StandardCharsets.ISO_8859_1);
  }

  // ---- for the engine

  private static DeliveryObject delivery(Stoa stoa, byte[] key) {
    return stoa.get(
        DeliveryObject.class,
        Keys.decode(key, Objects.requireNonNull(InstalledListeners.class.getClassLoader())));
  }

  @Override
  public @Nullable State state(Stoa stoa, byte[] key) {
    return delivery(stoa, key).state();
  }

  @Override
  public void tell(Stoa stoa, byte[] key, Position from, List<PendingEvent> events, Position to) {
    delivery(stoa, key).tell(from, events, to);
  }

  @Override
  public void fail(Stoa stoa, byte[] key, Position at, String failure, boolean over) {
    delivery(stoa, key).fail(at, failure, over);
  }
}
