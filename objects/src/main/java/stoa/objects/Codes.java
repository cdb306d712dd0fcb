package stoa.objects;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterOutputStream;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.code.CodeVersion;
import stoa.front.marshal.Loss;
import stoa.store.Store;

/// The versions of the code of shared types, or of handlers, in the log, and the active version of
/// each.
///
/// An *activation* is a name in the dictionary. Its number, plus 1, is the number of the code that
/// the leader logs with each put, see [stoa.store.running.HandlerFactory#code()]: every replica and
/// every replay executes a put with the code that was active when the leader logged it.
///
/// ```
/// activation:  "code ", how many the type has with this one, " ", the version's name, " ",
///              the address of the version's list, " ", the type
///              "handler " in place of "code ", and the name of the class, for a handler of a key
///
/// entries of the stream, of which the first byte is the kind:
///   1  classes: count varint; of each the file's name 16, sized the deflated class file
///   2  list of a version: the version's name 16, the Java that first ran it text, count varint;
///      of each class its name text, the file's name 16, the address of the entry that has it varint
/// ```
///
/// Thread-safe. Grows with the versions of the program's classes; it keeps a file that two versions
/// share once.
final class Codes {
  static final Key KEY = Key.of("stoa", "code");

  /// The prefix of an activation of a type in the dictionary.
  static final String CODE = "code ";

  /// The prefix of an activation of a class of handlers in the dictionary.
  static final String HANDLER = "handler ";

  private static final int CLASSES = 1;
  private static final int VERSION = 2;
  private static final int ENTRY_BYTES_MAX = 256 << 10;

  /// A version that executes the puts of a type from one position in the log on.
  ///
  /// @param number the number of the code in puts
  /// @param version the name of the version
  /// @param list the address of the list of its classes
  /// @param type the stored name of the type
  record Activation(int number, StreamId version, long list, String type) {}

  private final Store store;
  private final Dictionary dictionary;
  private final String prefix;

  /// @param prefix of its activations: [#CODE] or [#HANDLER]
  Codes(Store store, Dictionary dictionary, String prefix) {
    this.store = store;
    this.dictionary = dictionary;
    this.prefix = prefix;
  }

  /// Returns the types that have versions, ordered by name.
  java.util.SortedSet<String> types() {
    var types = new java.util.TreeSet<String>();
    dictionary.each((name, number) -> {
      if (name.startsWith(prefix)) types.add(activation(number + 1, name).type());
    });
    return types;
  }

  /// Returns the activations of a type, oldest first.
  List<Activation> of(String type) {
    var found = new ArrayList<Activation>();
    dictionary.each((name, number) -> {
      if (!name.startsWith(prefix) || !name.endsWith(" " + type)) return;
      Activation activation = activation(number + 1, name);
      if (activation.type().equals(type)) found.add(activation);
    });
    return found;
  }

  /// The losses that were accepted with a type between two numbers of activations.
  List<String> accepted(String type, int from, int to) {
    var found = new ArrayList<String>();
    dictionary.each((name, number) -> {
      if (number + 1 <= from || number + 1 >= to || !name.startsWith(Loss.ACCEPTED)) return;
      String accepted = name.substring(Loss.ACCEPTED.length());
      if (Loss.type(accepted).equals(type)) found.add(Loss.loss(accepted));
    });
    return found;
  }

  /// The activation of a number, null when the dictionary has none.
  @Nullable Activation find(int number) {
    String name = dictionary.nameOf(number - 1);
    return name != null && name.startsWith(prefix) ? activation(number, name) : null;
  }

  private static Activation activation(int number, String name) {
    String[] parts = name.split(" ", 5);
    if (parts.length != 5) throw new Corrupt("an activation is named " + name);
    var version =
        new StreamId(
            Long.parseUnsignedLong(parts[2].substring(0, 16), 16),
            Long.parseUnsignedLong(parts[2].substring(16), 16));
    return new Activation(number, version, Long.parseLong(parts[3]), parts[4]);
  }

  /// Returns the type that a name activates a version of; null when the name is no activation.
  static @Nullable String typeOf(String prefix, String name) {
    return name.startsWith(prefix) ? activation(0, name).type() : null;
  }

  // ---- entries and names in another stream of classes

  /// Returns the same name where its list has another address.
  ///
  /// @param places returns the new address of an entry of the stream
  static String with(String name, LongUnaryOperator places) {
    if (!name.startsWith(CODE) && !name.startsWith(HANDLER)) return name;
    String[] parts = name.split(" ", 5);
    parts[3] = Long.toString(place(Long.parseLong(parts[3]), places));
    return String.join(" ", parts);
  }

  /// Returns the same entry of the stream where the entries that it refers to have other addresses.
  static byte[] with(byte[] entry, LongUnaryOperator places) {
    var in = new Decoder(entry);
    if (in.u8() != VERSION) return entry;
    var out = new Encoder(entry.length + 64).u8(VERSION).id(in.id()).text(in.text());
    int count = in.count();
    out.varint(count);
    for (; count > 0; count--) {
      out.text(in.text()).id(in.id()).varint(place(in.varint(), places));
    }
    return out.toBytes();
  }

  private static long place(long address, LongUnaryOperator places) {
    long place = places.applyAsLong(address);
    if (place > 0) return place;
    throw new Corrupt(KEY + " has no entry at " + address + ", and something refers to it");
  }

  // ----

  /// Activates a version: it executes all puts from now on. Logs, and therefore waits.
  ///
  /// @param version a version with a name
  /// @param earlier the activations of the type
  Activation activate(String type, CodeVersion version, List<Activation> earlier) {
    StreamId name = java.util.Objects.requireNonNull(version.name());
    long list = 0;
    for (Activation one : earlier) if (one.version().equals(name)) list = one.list();
    if (list == 0) list = keep(name, version.files());
    // The leading number makes each activation of the same version a distinct name.
    String text = prefix + (earlier.size() + 1) + " " + name + " " + list + " " + type;
    return activation(dictionary.idOf(text) + 1, text);
  }

  /// Logs the class files of a version that are not in the log yet; returns the address of its
  /// list.
  private long keep(StreamId name, SortedMap<String, byte[]> files) {
    Map<StreamId, Long> known = known();
    var names = new TreeMap<String, StreamId>();
    var addresses = new HashMap<>(known);
    var batch = new Encoder(ENTRY_BYTES_MAX);
    var inBatch = new ArrayList<StreamId>();
    for (var file : files.entrySet()) {
      StreamId id = StreamId.of(file.getValue());
      names.put(file.getKey(), id);
      if (addresses.containsKey(id)) continue;
      addresses.put(id, 0L);
      batch.id(id).sized(deflated(file.getValue()));
      inBatch.add(id);
      if (batch.size() >= ENTRY_BYTES_MAX) flush(batch, inBatch, addresses);
    }
    flush(batch, inBatch, addresses);
    var list = new Encoder(64 * names.size() + 64).u8(VERSION).id(name);
    list.text(System.getProperty("java.vm.version", "")).varint(names.size());
    names.forEach((className, id) ->
        list.text(className).id(id).varint(java.util.Objects.requireNonNull(addresses.get(id))));
    return dictionary.append(KEY, list.toBytes(), "the code " + name);
  }

  private void flush(Encoder batch, List<StreamId> inBatch, Map<StreamId, Long> addresses) {
    if (inBatch.isEmpty()) return;
    byte[] classes = batch.toBytes();
    var entry = new Encoder(classes.length + 8).u8(CLASSES).varint(inBatch.size()).raw(classes);
    long address = dictionary.append(KEY, entry.toBytes(), "classes");
    for (StreamId id : inBatch) addresses.put(id, address);
    inBatch.clear();
    batch.clear();
  }

  /// Returns the addresses of the logged class files, by their names.
  private Map<StreamId, Long> known() {
    var known = new HashMap<StreamId, Long>();
    var lists = new java.util.TreeSet<Long>();
    dictionary.each((name, number) -> {
      boolean isActivation = name.startsWith(CODE) || name.startsWith(HANDLER);
      if (isActivation) lists.add(activation(number + 1, name).list());
    });
    for (long list : lists) {
      for (Listed file : list(list)) known.put(file.id(), file.address());
    }
    return known;
  }

  private record Listed(String className, StreamId id, long address) {}

  private List<Listed> list(long address) {
    var in = new Decoder(entry(address));
    if (in.u8() != VERSION) throw new Corrupt("no list of classes is at " + address + " of " + KEY);
    in.id();
    in.text();
    var listed = new ArrayList<Listed>();
    for (int left = in.count(); left > 0; left--) {
      listed.add(new Listed(in.text(), in.id(), in.varint()));
    }
    return listed;
  }

  /// Returns the class files of a version, by the binary names of their classes. Reads the log.
  SortedMap<String, byte[]> files(Activation activation) {
    var wanted = new TreeMap<Long, Map<StreamId, List<String>>>();
    for (Listed file : list(activation.list())) {
      wanted
          .computeIfAbsent(file.address(), _ -> new HashMap<>())
          .computeIfAbsent(file.id(), _ -> new ArrayList<>())
          .add(file.className());
    }
    var files = new TreeMap<String, byte[]>();
    wanted.forEach((address, names) -> {
      var in = new Decoder(entry(address));
      if (in.u8() != CLASSES) throw new Corrupt("no classes are at " + address + " of " + KEY);
      for (int left = in.count(); left > 0; left--) {
        List<String> of = names.get(in.id());
        byte[] deflated = in.sized();
        if (of == null) continue;
        byte[] file = inflated(deflated);
        for (String className : of) files.put(className, file);
      }
    });
    return files;
  }

  private byte[] entry(long address) {
    var found = new byte[1][];
    store.scan(
        KEY,
        address,
        entry -> {
          found[0] = entry.address() == address ? entry.payload() : null;
          return false;
        });
    byte[] payload = found[0];
    if (payload == null) throw new Corrupt(KEY + " has no entry at " + address);
    return payload;
  }

  static byte[] deflated(byte[] file) {
    var out = new ByteArrayOutputStream(file.length / 2);
    try (var deflater = new DeflaterOutputStream(out)) {
      deflater.write(file);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return out.toByteArray();
  }

  static byte[] inflated(byte[] deflated) {
    var out = new ByteArrayOutputStream(3 * deflated.length);
    try (var inflater = new InflaterOutputStream(out)) {
      inflater.write(deflated);
    } catch (IOException damaged) {
      throw new Corrupt(
          "a class file in " + KEY + " cannot be read: " + damaged.getMessage(), damaged);
    }
    return out.toByteArray();
  }
}
