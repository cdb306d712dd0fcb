package stoa.front.marshal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.Migrate;
import stoa.NotShareable;
import stoa.front.types.ModuleAccess;
import stoa.front.types.Platform;

/// The present fields of one class of the program, and the rules that convert the stored fields of
/// earlier versions.
///
/// Immutable apart from a cache of initial values, and thread-safe.
final class Shape {
  /*
   * A schema is "schema NAME{field:type,...}" with the types of TypeText. Its fields are those of
   * the superclasses first, sorted by name within a class; a field that hides one of the same name
   * is qualified by its class.
   *
   * Each stored field goes to the slot of its name, else to the slot that names it in @Was. One
   * without a slot is covered by @Removed, one whose slot does not take its values by nothing; a
   * @Migrate method covers both, and the slots that nothing was stored for and that have no initial
   * value. Whatever is not covered refuses the class.
   */

  /// The treatment of a stored field that the class lacks, and has no rule for.
  enum Unnamed {
    /// Refuses the class, as it would lose the values.
    REFUSED,
    /// Drops the field: the store keeps the values, and this program does not look at them.
    DROPPED
  }

  private final Class<?> type;
  private final List<Struct.Slot> slots;
  private final List<Struct.Slot> transients;
  private final Set<String> removed;
  private final Lineage lineage;
  private final Unnamed unnamed;
  private final @Nullable MethodHandle migration;
  private final Map<Struct.Slot, Optional<Initials.Initial>> initials = new ConcurrentHashMap<>();

  /// @throws NotShareable when the class cannot be read, or its annotations contradict each other
  Shape(Class<?> type, Lineage lineage, Unnamed unnamed) {
    this.type = type;
    this.lineage = lineage;
    this.unnamed = unnamed;
    this.slots = slots(type, 0);
    this.transients = type.isRecord() ? List.of() : slots(type, Modifier.TRANSIENT);
    this.removed = Lineage.removed(type);
    this.migration = migration(type);
    checkNames();
  }

  Class<?> type() {
    return type;
  }

  List<Struct.Slot> slots() {
    return slots;
  }

  List<Struct.Slot> transients() {
    return transients;
  }

  @Nullable MethodHandle migration() {
    return migration;
  }

  /// Returns the initial value of a field; absent when only a constructor with parameters knows it.
  Optional<Initials.Initial> initial(Struct.Slot slot) {
    return initials.computeIfAbsent(slot, added -> Initials.find(type, added.field));
  }

  /// Returns the description of the fields, without the stored name before it.
  String body() {
    String body = body(true);
    return body.length() > TypeIds.NAME_CHARS_MAX / 2 ? body(false) : body;
  }

  private String body(boolean arguments) {
    var text = new StringBuilder();
    for (Struct.Slot slot : slots) {
      if (!text.isEmpty()) text.append(',');
      text.append(slot.name)
          .append(':')
          .append(arguments ? slot.text.toString() : slot.text.erasure());
    }
    return text.toString();
  }

  /// How to read what another version of the class has stored, which may have come after this one.
  ///
  /// @param names those that the dictionary has now
  Struct.Plan plan(String storedName, String body, List<String> names) {
    lineage.learn(names);
    return plan(storedName, body);
  }

  /// How to read what an earlier version of the class has stored.
  ///
  /// @param storedName for messages
  /// @param body the description of the fields of that version
  /// @throws NotShareable naming the fields that no rule covers
  Struct.Plan plan(String storedName, String body) {
    Map<String, TypeText> fields = parse(storedName, body);
    Map<String, Struct.Slot> targets = targets(storedName, fields.keySet());
    var stored = new ArrayList<Struct.Stored>();
    var found = new HashSet<Struct.Slot>();
    fields.forEach((name, text) -> {
      Struct.Slot slot = targets.get(name);
      if (slot == null) checkGone(storedName, name, text);
      else if (!takes(slot, text)) slot = uncovered(storedName, slot, name, text);
      if (slot != null) found.add(slot);
      stored.add(new Struct.Stored(name, Struct.Kind.of(text.erasure()), slot));
    });
    // Initializers run in the order of the source, as later ones may use earlier ones.
    var added =
        slots.stream()
            .filter(slot -> !found.contains(slot))
            .sorted(Comparator.comparingInt(slot -> slot.order))
            .toList();
    for (Struct.Slot slot : added) checkAdded(storedName, slot);
    return new Struct.Plan(List.copyOf(stored), added);
  }

  private static Map<String, TypeText> parse(String storedName, String body) {
    var fields = new LinkedHashMap<String, TypeText>();
    for (String part : body.isEmpty() ? new String[0] : body.split(",", -1)) {
      int colon = part.lastIndexOf(':');
      if (colon < 0) {
        throw new Corrupt("a schema of " + storedName + " has the field \"" + part + "\"");
      }
      fields.put(part.substring(0, colon), TypeText.parse(part.substring(colon + 1)));
    }
    return fields;
  }

  private boolean takes(Struct.Slot slot, TypeText text) {
    return lineage.takes(slot.text, text, slot.field.getDeclaringClass().getClassLoader());
  }

  /// Returns the slots of the stored fields.
  private Map<String, Struct.Slot> targets(String storedName, Set<String> fields) {
    var targets = new HashMap<String, Struct.Slot>();
    var settled = new HashSet<Struct.Slot>();
    int most = slots.stream().mapToInt(slot -> slot.names.size()).max().orElse(0);
    for (int i = 0; i < most; i++) {
      for (Struct.Slot slot : slots) {
        if (i >= slot.names.size() || settled.contains(slot)) continue;
        String name = slot.names.get(i);
        if (fields.contains(name) && targets.putIfAbsent(name, slot) == null) settled.add(slot);
      }
    }
    for (Struct.Slot hiding : slots) {
      if (!hiding.isHiding() || settled.contains(hiding) || migration != null) continue;
      if (!fields.contains(hiding.field.getName())) continue;
      throw new NotShareable(
          type.getName()
              + " has two fields "
              + hiding.field.getName()
              + ", and an earlier version of "
              + storedName
              + " stored one; rename the one that was added, or add a method marked @Migrate");
    }
    return targets;
  }

  // ---- fields that no rule covers

  private void checkGone(String storedName, String name, TypeText text) {
    if (unnamed == Unnamed.DROPPED || migration != null || removed.contains(name)) return;
    String loss = Loss.removed(storedName, name);
    if (lineage.accepts(loss)) return;
    throw new NotShareable(
        type.getName()
            + " has no "
            + part()
            + " "
            + name
            + ", which an earlier version of "
            + storedName
            + " stored as a "
            + text
            + "; mark its successor @Was(\""
            + name
            + "\"), or say that it is gone by @Removed(\""
            + name
            + "\") at the class, or add a method marked @Migrate"
            + Loss.offer(loss));
  }

  /// The slot of a stored field that it does not take, null when a migration method gets the value
  /// by name alone, or its values are given up.
  ///
  /// @param name under which it is stored
  private Struct.@Nullable Slot uncovered(
      String storedName, Struct.Slot slot, String name, TypeText text) {
    if (migration == null) {
      String loss = Loss.reset(storedName, name);
      boolean hasInitial = !type.isRecord() && initial(slot).isPresent();
      if (hasInitial && lineage.accepts(loss)) return null;
      throw changed(storedName, slot, text, hasInitial ? Loss.offer(loss) : "");
    }
    boolean sameKind = slot.kind == Struct.Kind.of(text.erasure());
    boolean argumentsDiffer = slot.text.erasure().equals(text.erasure());
    return sameKind && !argumentsDiffer ? slot : null;
  }

  /// Returns the first class of a declared type that is not on the class path, or null when all
  /// are.
  private @Nullable String unknown(TypeText text, @Nullable ClassLoader loader) {
    if (lineage.find(text.name(), loader) == null) return text.name();
    for (TypeText argument : text.arguments()) {
      String unknown = unknown(argument, loader);
      if (unknown != null) return unknown;
    }
    return null;
  }

  /// Returns the offer to name the successor of a stored class, for the message of a refusal; empty
  /// when the types do not differ in a class of the program.
  private String offerName(TypeText now, TypeText before, @Nullable ClassLoader loader) {
    String successor = successor(now, before, loader);
    if (!successor.isEmpty()) return successor;
    String unknown = unknown(before, loader);
    if (unknown == null) return "";
    return "mark the successor of "
        + unknown
        + ", which is not on the class path, @Was(\""
        + unknown
        + "\"), or ";
  }

  private String successor(TypeText now, TypeText before, @Nullable ClassLoader loader) {
    if (now.name().equals(before.name())) {
      int count = Math.min(now.arguments().size(), before.arguments().size());
      for (int i = 0; i < count; i++) {
        String found = successor(now.arguments().get(i), before.arguments().get(i), loader);
        if (!found.isEmpty()) return found;
      }
      return "";
    }
    boolean mayBe =
        now.dimensions() == before.dimensions()
            && !lineage.renamed().containsKey(before.name())
            && isOfProgram(now.name(), loader)
            && isOfProgram(before.name(), loader);
    if (!mayBe) return "";
    // The class may still be there under its earlier name: the process that deploys other classes
    // has it on its class path.
    return "if "
        + now.name()
        + " is the renamed "
        + before.name()
        + ", mark it @Was(\""
        + before.name()
        + "\"); else ";
  }

  private boolean isOfProgram(String name, @Nullable ClassLoader loader) {
    Class<?> found = lineage.find(name, loader);
    return found == null || !Platform.has(found);
  }

  private NotShareable changed(String storedName, Struct.Slot slot, TypeText text, String offer) {
    ClassLoader loader = slot.field.getDeclaringClass().getClassLoader();
    return new NotShareable(
        type.getName()
            + "."
            + slot.name
            + " is a "
            + slot.text
            + ", and an earlier version of "
            + storedName
            + " stored it as a "
            + text
            + ", whose values do not all fit; "
            + offerName(slot.text, text, loader)
            + "add a method marked @Migrate, or give the "
            + part()
            + " another name and say @Removed(\""
            + slot.name
            + "\") at the class"
            + offer);
  }

  private void checkAdded(String storedName, Struct.Slot slot) {
    if (migration != null) return;
    if (type.isRecord()) {
      throw new NotShareable(
          "the component "
              + slot.name
              + " of the record "
              + type.getName()
              + " was added after a "
              + storedName
              + " was stored; mark it @Was with its earlier name, or add a static method marked"
              + " @Migrate");
    }
    if (initial(slot).isEmpty()) {
      throw new NotShareable(
          type.getName()
              + "."
              + slot.name
              + " was added after a "
              + storedName
              + " was stored, and only a constructor with parameters knows its value;"
              + " give it an initializer, or add a method marked @Migrate");
    }
  }

  private String part() {
    return type.isRecord() ? "component" : "field";
  }

  /// Refuses names that let a stored field belong to two slots.
  private void checkNames() {
    var owners = new HashMap<String, Struct.Slot>();
    for (Struct.Slot slot : slots) owners.put(slot.name, slot);
    for (Struct.Slot slot : slots) {
      for (String was : slot.names) {
        Struct.Slot other = owners.putIfAbsent(was, slot);
        if (other == null || other == slot) continue;
        throw new NotShareable(
            type.getName()
                + "."
                + slot.name
                + " was "
                + was
                + ", says its @Was, and so "
                + (other.name.equals(was) ? "is" : "was")
                + " "
                + other.name
                + "; give one of them a name that was never used");
      }
    }
    for (String name : removed) {
      Struct.Slot slot = owners.get(name);
      if (slot == null) continue;
      throw new NotShareable(
          type.getName()
              + "."
              + slot.name
              + " takes what was stored as "
              + name
              + ", which @Removed says is gone; remove it there, or give the "
              + part()
              + " another name");
    }
  }

  // ---- description

  /// Returns the instance fields of a class that are transient, or that are not.
  private static List<Struct.Slot> slots(Class<?> type, int wanted) {
    var lineage = new ArrayList<Class<?>>();
    for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass()) lineage.add(c);
    var slots = new ArrayList<Struct.Slot>();
    var names = new HashSet<String>();
    for (Class<?> c : lineage.reversed()) {
      if (c == Record.class) continue;
      var fields = new ArrayList<Field>();
      for (Field field : c.getDeclaredFields()) {
        int considered = Modifier.STATIC | Modifier.TRANSIENT;
        if ((field.getModifiers() & considered) == wanted) fields.add(field);
      }
      var inSource = List.copyOf(fields);
      fields.sort(Comparator.comparing(Field::getName));
      int base = slots.size();
      for (Field field : fields) {
        boolean hiding = !names.add(field.getName());
        slots.add(slot(type, field, hiding, base + inSource.indexOf(field)));
      }
    }
    return List.copyOf(slots);
  }

  private static Struct.Slot slot(Class<?> type, Field field, boolean hiding, int order) {
    try {
      int component = type.isRecord() ? component(type, field) : -1;
      return new Struct.Slot(field, hiding, order, component);
    } catch (RuntimeException | Error e) {
      throw new NotShareable(
          type.getName() + "." + field.getName() + " cannot be read; " + ModuleAccess.remedy(type),
          e);
    }
  }

  private static int component(Class<?> type, Field field) {
    RecordComponent[] components = type.getRecordComponents();
    for (int i = 0; i < components.length; i++) {
      if (components[i].getName().equals(field.getName())) return i;
    }
    throw new IllegalStateException(field + " is no component");
  }

  private static @Nullable MethodHandle migration(Class<?> type) {
    for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass()) {
      for (Method method : c.getDeclaredMethods()) {
        if (!method.isAnnotationPresent(Migrate.class)) continue;
        boolean fixed = Modifier.isStatic(method.getModifiers());
        Class<?>[] parameters = method.getParameterTypes();
        boolean fits =
            parameters.length == 1 && parameters[0] == Map.class && fixed == type.isRecord();
        if (!fits) {
          throw new NotShareable(
              c.getName()
                  + "."
                  + method.getName()
                  + " is marked @Migrate; make it "
                  + (type.isRecord() ? "static, answering the record" : "an instance method")
                  + ", with one parameter of type Map<String, Object>");
        }
        return handle(method, fixed);
      }
    }
    return null;
  }

  private static MethodHandle handle(Method method, boolean fixed) {
    try {
      method.setAccessible(true);
      MethodHandle handle = MethodHandles.lookup().unreflect(method);
      if (fixed) handle = MethodHandles.dropArguments(handle, 0, Object.class);
      return handle.asType(MethodType.methodType(Object.class, Object.class, Map.class));
    } catch (IllegalAccessException | RuntimeException e) {
      throw new NotShareable(
          method + " cannot be called; " + ModuleAccess.remedy(method.getDeclaringClass()), e);
    }
  }
}
