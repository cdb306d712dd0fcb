package stoa.objects;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Decoder;
import stoa.base.Key;
import stoa.front.CallNumbers;
import stoa.front.ClassNames;
import stoa.front.marshal.TypeIds;
import stoa.front.types.SharedType;
import stoa.store.Store;
import stoa.store.replicas.Losses;

/// The names that log entries refer to by number: classes, types, methods. The names form a stream
/// of their own: the number of a name is its stream address, less one.
///
/// Thread-safe. Grows with the program's classes, not with its data.
@SuppressWarnings("exports") // Justification: for stoa.client, on the class path
public final class Dictionary implements TypeIds {
  static final Key KEY = Key.of("stoa", "dictionary");

  /// Returns the search for objects that lost entries in a damaged store.
  public static Losses losses() {
    return new Losses(KEY.stream(), ClassNames.CLASS, Dictionary::method);
  }

  /// Returns the address of the name of the method that a put calls, 0 when it calls none.
  private static long method(byte[] put) {
    int number = (int) new Decoder(put).varint();
    return CallNumbers.isMethod(number) ? number : 0;
  }

  private final Store store;
  private final ReentrantLock assigning = new ReentrantLock();
  private final CopyOnWriteArrayList<String> names = new CopyOnWriteArrayList<>();
  private volatile Map<String, Integer> numbers = Map.of();

  private final Set<String> accepted;

  /// @param accepted the losses that the opener of the store accepts
  Dictionary(Store store, Set<String> accepted) {
    this.store = store;
    this.accepted = accepted;
    var _ = learn();
  }

  /// Reads the names that another process has logged since the last call; returns these names.
  List<String> learn() {
    assigning.lock();
    try {
      var found = new ArrayList<String>();
      store.scan(
          KEY,
          names.size() + 1,
          entry -> {
            found.add(new String(entry.payload(), StandardCharsets.UTF_8));
            return true;
          });
      if (found.isEmpty()) return found;
      var byName = new HashMap<>(numbers);
      int number = names.size();
      for (String name : found) byName.putIfAbsent(name, number++);
      names.addAll(found);
      numbers = byName;
      return found;
    } finally {
      assigning.unlock();
    }
  }

  @Override
  public int idOf(String name) {
    Integer known = numbers.get(name);
    if (known != null) return known;
    assigning.lock();
    try {
      known = numbers.get(name);
      if (known != null) return known;
      int number = Math.toIntExact(appended(name)) - 1;
      names.add(name);
      var byName = new HashMap<>(numbers);
      byName.put(name, number);
      numbers = byName;
      return number;
    } finally {
      assigning.unlock();
    }
  }

  /// Returns the number of a name, or null when it has none.
  @Nullable Integer find(String name) {
    return numbers.get(name);
  }

  /// Returns the names from a number on.
  List<String> from(int number, int countMax) {
    List<String> known = List.copyOf(names);
    int begin = Math.clamp(number, 0, known.size());
    return known.subList(begin, Math.min(known.size(), begin + countMax));
  }

  /// Visits all names with their numbers, in the order of the numbers.
  void each(java.util.function.ObjIntConsumer<String> visitor) {
    int number = 0;
    for (String name : names) visitor.accept(name, number++);
  }

  private long appended(String name) {
    return append(KEY, name.getBytes(StandardCharsets.UTF_8), name);
  }

  /// Logs a definition that later entries refer to; returns its address. When this fails, the
  /// caller need not know whether the definition is in the log: it has not logged the entry that
  /// refers to it.
  ///
  /// @param what describes the definition, for the message of a failure
  long append(Key key, byte[] entry, String what) {
    try {
      return store.append(key, entry);
    } catch (UnknownOutcome failed) {
      throw ObjectContext.failing(
          new Unavailable(
              "the store failed before anything was logged that speaks of "
                  + what
                  + "; open it again",
              failed));
    } catch (RuntimeException failed) {
      throw ObjectContext.failing(failed);
    }
  }

  @Override
  public @Nullable String nameOf(int id) {
    return id >= 0 && id < names.size() ? names.get(id) : null;
  }

  @Override
  public List<String> names() {
    return List.copyOf(names);
  }

  @Override
  public Set<String> accepted() {
    return accepted;
  }

  @Override
  public boolean isFirstFace(SharedType type) {
    String name = type.face().getName();
    var _ = idOf(ClassNames.CLASS + type.name() + " " + name);
    return ClassNames.isFirstFace(type, after(ClassNames.CLASS + type.name() + " "));
  }

  /// Returns the names that begin with a prefix, without the prefix, in the order of their numbers.
  List<String> after(String prefix) {
    return ClassNames.after(prefix, names);
  }
}
