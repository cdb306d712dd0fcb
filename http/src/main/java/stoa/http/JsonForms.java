package stoa.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Queue;
import java.util.SequencedCollection;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.Ref;
import stoa.Shared;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedType;
import stoa.http.Variables.Known;
import stoa.spi.Facade;

/// The forms of the types that the methods of shared types declare. Thread-safe.
///
/// JSON becomes values of declared types alone: no name in it chooses a class, but for the records
/// that a sealed interface permits.
final class JsonForms {
  static final String TYPE = "@type";

  private static final Map<Class<?>, Supplier<Collection<@Nullable Object>>> COLLECTIONS =
      Map.ofEntries(
          Map.entry(Iterable.class, ArrayList::new),
          Map.entry(Collection.class, ArrayList::new),
          Map.entry(SequencedCollection.class, ArrayList::new),
          Map.entry(List.class, ArrayList::new),
          Map.entry(ArrayList.class, ArrayList::new),
          Map.entry(Queue.class, ArrayDeque::new),
          Map.entry(Deque.class, ArrayDeque::new),
          Map.entry(ArrayDeque.class, ArrayDeque::new),
          Map.entry(Set.class, LinkedHashSet::new),
          Map.entry(SequencedSet.class, LinkedHashSet::new),
          Map.entry(LinkedHashSet.class, LinkedHashSet::new),
          Map.entry(HashSet.class, HashSet::new),
          Map.entry(SortedSet.class, TreeSet::new),
          Map.entry(NavigableSet.class, TreeSet::new),
          Map.entry(TreeSet.class, TreeSet::new));

  private static final Map<Class<?>, Supplier<Map<@Nullable Object, @Nullable Object>>> MAPS =
      Map.ofEntries(
          Map.entry(Map.class, LinkedHashMap::new),
          Map.entry(SequencedMap.class, LinkedHashMap::new),
          Map.entry(LinkedHashMap.class, LinkedHashMap::new),
          Map.entry(HashMap.class, HashMap::new),
          Map.entry(SortedMap.class, TreeMap::new),
          Map.entry(NavigableMap.class, TreeMap::new),
          Map.entry(TreeMap.class, TreeMap::new));

  private final Shares shares;
  private final ConcurrentHashMap<Known, JsonForm> forms = new ConcurrentHashMap<>();
  private final JsonForm any = new Any();

  /// Creates them.
  JsonForms(Shares shares) {
    this.shares = shares;
  }

  /// Returns the form of what a caller passes.
  ///
  /// @param where the parameter, for the message of a refusal
  /// @throws Inexpressible when JSON cannot express the type
  JsonForm parameter(Type type, Variables variables, String where) {
    return form(variables.resolve(type), where);
  }

  /// Returns the form of what a method answers. Where the declared type says too little, the class
  /// of the value decides.
  ///
  /// @throws Inexpressible when JSON can express no value of the type
  JsonForm result(Type type, Variables variables, String where) {
    Known known = variables.resolve(type);
    try {
      return form(known, where);
    } catch (Inexpressible open) {
      if (isOpen(known.raw())) return any;
      throw open;
    }
  }

  /// Returns the form for values of which only the class is known.
  JsonForm any() {
    return any;
  }

  /// Returns whether the class of a value may differ from the declared one.
  private static boolean isOpen(Class<?> type) {
    boolean holds =
        Collection.class.isAssignableFrom(type)
            || Map.class.isAssignableFrom(type)
            || type.isArray()
            || type == Optional.class;
    return holds || type == Object.class || type.isInterface() || type.isRecord();
  }

  private JsonForm form(Known type, String where) {
    JsonForm known = forms.get(type);
    if (known != null) return known;
    var made = new HashMap<Known, JsonForm>();
    JsonForm form = made(type, where, made);
    forms.putAll(made);
    return form;
  }

  /// @param made the forms of this type and of those that it needs; they are known when all of them
  ///   are possible
  private JsonForm made(Known type, String where, Map<Known, JsonForm> made) {
    JsonForm known = forms.get(type);
    if (known == null) known = made.get(type);
    if (known != null) return known;
    Class<?> raw = type.raw();
    JsonForm leaf = Leaves.of(raw);
    if (leaf != null) return leaf;
    if (raw.isRecord()) {
      if (raw == Ref.class) return new AnyReference();
      var record = new RecordForm(type);
      made.put(type, record);
      record.complete(where, made);
      return record;
    }
    if (isChoice(raw)) return choice(type, where, made);
    JsonForm form = made(raw, type, where, made);
    made.put(type, form);
    return form;
  }

  private JsonForm made(Class<?> raw, Known type, String where, Map<Known, JsonForm> made) {
    if (raw.isEnum()) return new Constants(raw);
    if (raw == Optional.class) return new Maybe(made(type.argument(0), where, made));
    if (raw.isAnnotationPresent(Shared.class)) return new Reference(SharedType.of(raw));
    if (raw.isArray()) {
      Known element =
          type.arguments().isEmpty() ? Known.of(raw.getComponentType()) : type.argument(0);
      return new Elements(made(element, where, made), ArrayList::new, element.raw(), false);
    }
    var collection = COLLECTIONS.get(raw);
    if (collection != null) {
      JsonForm element = made(type.argument(0), where, made);
      return new Elements(element, collection, null, Set.class.isAssignableFrom(raw));
    }
    var map = MAPS.get(raw);
    if (map != null) {
      JsonForm key = made(type.argument(0), where, made);
      return new Pairs(key, made(type.argument(1), where, made), map);
    }
    throw refusal(raw, where);
  }

  private static Inexpressible refusal(Class<?> raw, String where) {
    String what = "a " + raw.getTypeName();
    if (raw == Blob.class || isFacade(raw)) {
      return new Inexpressible(where, what, "pass its name, and open it in the method");
    }
    if (raw.isInterface() && !raw.getName().startsWith("java.")) {
      return new Inexpressible(
          where, what, "make the interface sealed, and let it permit records alone");
    }
    return new Inexpressible(
        where,
        what,
        "declare a record, an enum, a text, a number, a time, or a list, set or map of these");
  }

  private static boolean isFacade(Class<?> raw) {
    return raw.getName().startsWith("stoa.");
  }

  private static boolean isChoice(Class<?> raw) {
    return raw.isSealed()
        && !raw.isEnum()
        && !COLLECTIONS.containsKey(raw)
        && !MAPS.containsKey(raw)
        && !raw.isAnnotationPresent(Shared.class);
  }

  private JsonForm choice(Known type, String where, Map<Known, JsonForm> made) {
    Class<?> raw = type.raw();
    var permitted = new TreeMap<String, JsonForm>();
    var classes = new HashMap<Class<?>, String>();
    var choice = new Choice(raw.getSimpleName(), permitted, classes);
    made.put(type, choice); // a record may have a component of the type
    var left = new ArrayDeque<Class<?>>(List.of(raw));
    while (!left.isEmpty()) {
      Class<?> next = left.pop();
      if (next.isSealed()) {
        left.addAll(List.of(next.getPermittedSubclasses()));
      } else if (next.isRecord() && permitted.get(next.getSimpleName()) == null) {
        permitted.put(next.getSimpleName(), made(Known.of(next), where, made));
        classes.put(next, next.getSimpleName());
      } else {
        throw new Inexpressible(
            where,
            "a " + raw.getTypeName() + ", of which " + next.getTypeName() + " is one",
            "let the sealed interface permit records alone, with different names");
      }
    }
    return choice;
  }

  // ---- forms

  @Nullable Object read(JsonForm form, @Nullable JsonElement json, String where) {
    if (json == null || json.isJsonNull()) {
      return form instanceof Maybe ? Optional.empty() : null;
    }
    return form.read(json, where);
  }

  JsonElement write(JsonForm form, @Nullable Object value, String where) {
    return value == null ? JsonNull.INSTANCE : form.write(value, where);
  }

  /// Constants by their names.
  private record Constants(Class<?> type) implements JsonForm {
    @Override
    public Object read(JsonElement json, String where) {
      var names = new ArrayList<String>();
      for (Object constant : type.getEnumConstants()) {
        String name = ((Enum<?>) constant).name();
        if (json instanceof JsonPrimitive word
            && word.isString()
            && word.getAsString().equals(name)) return constant;
        names.add(name);
      }
      throw Leaves.wrong(json, where, "one of " + String.join(", ", names));
    }

    @Override
    public JsonElement write(Object value, String where) {
      return new JsonPrimitive(((Enum<?>) value).name());
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      return schemas.named(
          name(type),
          () -> {
            JsonObject schema = Schemas.of("string", "");
            var names = new JsonArray();
            for (Object constant : type.getEnumConstants()) names.add(((Enum<?>) constant).name());
            schema.add("enum", names);
            return schema;
          });
    }

    @Override
    public boolean isName() {
      return true;
    }
  }

  /// Returns the name of a class in a document.
  private static String name(Class<?> type) {
    return type.getName().replace('$', '.');
  }

  private final class Maybe implements JsonForm {
    private final JsonForm of;

    Maybe(JsonForm of) {
      this.of = of;
    }

    @Override
    public Object read(JsonElement json, String where) {
      return Optional.ofNullable(of.read(json, where));
    }

    @Override
    public JsonElement write(Object value, String where) {
      return JsonForms.this.write(of, ((Optional<?>) value).orElse(null), where);
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      return Schemas.orNull(of.schema(schemas));
    }

    @Override
    public boolean isNullable() {
      return true;
    }
  }

  /// Lists, sets and arrays.
  private final class Elements implements JsonForm {
    private final JsonForm element;
    private final Supplier<Collection<@Nullable Object>> empty;
    private final @Nullable Class<?> array;
    private final boolean unique;

    Elements(
        JsonForm element,
        Supplier<Collection<@Nullable Object>> empty,
        @Nullable Class<?> array,
        boolean unique) {
      this.element = element;
      this.empty = empty;
      this.array = array;
      this.unique = unique;
    }

    @Override
    public Object read(JsonElement json, String where) {
      if (!(json instanceof JsonArray all)) throw Leaves.wrong(json, where, "an array");
      Collection<@Nullable Object> read = empty.get();
      for (int i = 0; i < all.size(); i++) {
        String at = where + "[" + i + "]";
        Object one = JsonForms.this.read(element, all.get(i), at);
        if (one == null && array != null && array.isPrimitive()) {
          throw Leaves.wrong(all.get(i), at, "a " + array);
        }
        if (!add(read, one, all.get(i), at)) {
          throw Leaves.wrong(all.get(i), at, "different from the other elements of the set");
        }
      }
      return array == null ? read : array(read, array);
    }

    private static boolean add(
        Collection<@Nullable Object> to, @Nullable Object one, JsonElement json, String where) {
      try {
        return to.add(one);
      } catch (NullPointerException | ClassCastException refused) {
        throw Leaves.wrong(json, where, "an element that the collection takes");
      }
    }

    private static Object array(Collection<?> read, Class<?> element) {
      Object filled = Array.newInstance(element, read.size());
      int i = 0;
      for (Object one : read) Array.set(filled, i++, one);
      return filled;
    }

    @Override
    public JsonElement write(Object value, String where) {
      var all = new JsonArray();
      if (value instanceof Iterable<?> elements) {
        for (Object one : elements) all.add(JsonForms.this.write(element, one, where + "[]"));
      } else {
        for (int i = 0; i < Array.getLength(value); i++) {
          all.add(JsonForms.this.write(element, Array.get(value, i), where + "[]"));
        }
      }
      return all;
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      JsonObject schema = Schemas.of("array", "");
      schema.add("items", element.schema(schemas));
      if (unique) schema.addProperty("uniqueItems", true);
      return schema;
    }
  }

  /// Maps: objects when their keys are words, otherwise arrays of pairs.
  private final class Pairs implements JsonForm {
    private static final String WHAT = "an array of pairs of a key and a value";
    private final JsonForm key;
    private final JsonForm value;
    private final Supplier<Map<@Nullable Object, @Nullable Object>> empty;

    Pairs(JsonForm key, JsonForm value, Supplier<Map<@Nullable Object, @Nullable Object>> empty) {
      this.key = key;
      this.value = value;
      this.empty = empty;
    }

    @Override
    public Object read(JsonElement json, String where) {
      Map<@Nullable Object, @Nullable Object> read = empty.get();
      if (key.isName()) {
        if (!(json instanceof JsonObject object)) throw Leaves.wrong(json, where, "an object");
        object
            .asMap()
            .forEach((name, of) -> put(read, new JsonPrimitive(name), of, where + "." + name));
        return read;
      }
      if (!(json instanceof JsonArray pairs)) throw Leaves.wrong(json, where, WHAT);
      for (int i = 0; i < pairs.size(); i++) {
        String at = where + "[" + i + "]";
        if (!(pairs.get(i) instanceof JsonArray pair) || pair.size() != 2) {
          throw Leaves.wrong(pairs.get(i), at, "a pair of a key and a value");
        }
        put(read, pair.get(0), pair.get(1), at);
      }
      return read;
    }

    private void put(
        Map<@Nullable Object, @Nullable Object> read,
        JsonElement name,
        JsonElement of,
        String where) {
      Object decoded = JsonForms.this.read(key, name, where);
      boolean isThere;
      try {
        isThere = read.containsKey(decoded);
        read.put(decoded, JsonForms.this.read(value, of, where));
      } catch (NullPointerException | ClassCastException refused) {
        throw Leaves.wrong(name, where, "a key that the map takes");
      }
      if (isThere) throw Leaves.wrong(name, where, "different from the other keys");
    }

    @Override
    public JsonElement write(Object map, String where) {
      var object = new JsonObject();
      var pairs = new JsonArray();
      ((Map<?, ?>) map)
          .forEach((one, of) -> {
            JsonElement name = JsonForms.this.write(key, one, where + "{}");
            JsonElement written = JsonForms.this.write(value, of, where + "." + one);
            if (!key.isName()) {
              var pair = new JsonArray();
              pair.add(name);
              pair.add(written);
              pairs.add(pair);
            } else if (name.isJsonNull()) {
              throw new Inexpressible(where, "a map with the key null", "return other keys");
            } else if (object.has(name.getAsString())) {
              throw new Inexpressible(
                  where, "a map with two keys " + name, "return keys with different texts");
            } else {
              object.add(name.getAsString(), written);
            }
          });
      return key.isName() ? object : pairs;
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      if (key.isName()) {
        JsonObject schema = Schemas.of("object", "");
        schema.add("additionalProperties", value.schema(schemas));
        return schema;
      }
      JsonObject pair = Schemas.of("array", "");
      var items = new JsonArray();
      items.add(key.schema(schemas));
      items.add(value.schema(schemas));
      pair.add("prefixItems", items);
      pair.addProperty("minItems", 2);
      pair.addProperty("maxItems", 2);
      JsonObject schema = Schemas.of("array", "");
      schema.add("items", pair);
      return schema;
    }
  }

  /// Shared objects of a type.
  private final class Reference implements JsonForm {
    private final SharedType type;

    Reference(SharedType type) {
      this.type = type;
    }

    @Override
    public Object read(JsonElement json, String where) {
      Ref<?> ref = shares.read(json, where);
      if (!ref.type().equals(type.name())) {
        throw Leaves.wrong(json, where, "an object of type " + type.name());
      }
      return shares.stoa().get(type.face(), ref.key());
    }

    @Override
    public JsonElement write(Object value, String where) {
      return Shares.write(shares.stoa().ref(value));
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      return Shares.schema(type.name());
    }
  }

  /// References to shared objects of any type.
  private final class AnyReference implements JsonForm {
    @Override
    public Object read(JsonElement json, String where) {
      return shares.read(json, where);
    }

    @Override
    public JsonElement write(Object value, String where) {
      return Shares.write((Ref<?>) value);
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      return Shares.schema("");
    }
  }

  /// The records that a sealed interface permits, told apart by `@type`.
  private record Choice(String name, Map<String, JsonForm> permitted, Map<Class<?>, String> classes)
      implements JsonForm {
    @Override
    public Object read(JsonElement json, String where) {
      String what =
          "an object whose " + TYPE + " is one of " + String.join(", ", permitted.keySet());
      if (!(json instanceof JsonObject object) || !object.has(TYPE)) {
        throw Leaves.wrong(json, where, what);
      }
      JsonForm form = permitted.get(Leaves.word(object.get(TYPE), where + "." + TYPE, what));
      if (form == null) throw Leaves.wrong(object.get(TYPE), where + "." + TYPE, what);
      return java.util.Objects.requireNonNull(form.read(object, where));
    }

    @Override
    public JsonElement write(Object value, String where) {
      String type = java.util.Objects.requireNonNull(classes.get(value.getClass()));
      JsonObject object =
          (JsonObject) java.util.Objects.requireNonNull(permitted.get(type)).write(value, where);
      return typed(type, object);
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      var all = new JsonArray();
      permitted.forEach((type, form) -> {
        var properties = new JsonObject();
        JsonObject mark = Schemas.of("string", "");
        mark.addProperty("const", type);
        properties.add(TYPE, mark);
        var required = new JsonArray();
        required.add(TYPE);
        JsonObject marked = Schemas.of("object", "");
        marked.add("properties", properties);
        marked.add("required", required);
        var both = new JsonArray();
        both.add(marked);
        both.add(form.schema(schemas));
        var one = new JsonObject();
        one.add("allOf", both);
        all.add(one);
      });
      var schema = new JsonObject();
      schema.addProperty("title", name);
      schema.add("oneOf", all);
      return schema;
    }
  }

  private static JsonObject typed(String type, JsonObject object) {
    var typed = new JsonObject();
    typed.addProperty(TYPE, type);
    object
        .asMap()
        .forEach((name, value) -> {
          if (!name.equals(TYPE)) typed.add(name, value);
        });
    return typed;
  }

  /// The form of records: objects with their components.
  private final class RecordForm implements JsonForm {
    private final Known type;
    private final List<String> names = new ArrayList<>();
    private final List<Method> accessors = new ArrayList<>();
    private final List<JsonForm> components = new ArrayList<>();
    private final List<Class<?>> classes = new ArrayList<>();
    private final Constructor<?> constructor;

    RecordForm(Known type) {
      this.type = type;
      for (RecordComponent component : type.raw().getRecordComponents()) {
        names.add(component.getName());
        Method accessor = component.getAccessor();
        accessor.setAccessible(true);
        accessors.add(accessor);
        classes.add(component.getType());
      }
      try {
        constructor = type.raw().getDeclaredConstructor(classes.toArray(Class<?>[]::new));
        constructor.setAccessible(true);
      } catch (NoSuchMethodException impossible) {
        throw new IllegalStateException(impossible);
      }
    }

    /// Finds the forms of the components; they may need this form.
    void complete(String where, Map<Known, JsonForm> made) {
      Variables variables = type.variables();
      for (RecordComponent component : type.raw().getRecordComponents()) {
        String at = "the component " + component.getName() + " of " + type + ", in " + where + ",";
        components.add(made(variables.resolve(component.getGenericType()), at, made));
      }
    }

    @Override
    public Object read(JsonElement json, String where) {
      if (!(json instanceof JsonObject object)) {
        throw Leaves.wrong(json, where, "an object with " + String.join(", ", names));
      }
      for (String name : object.keySet()) {
        if (names.contains(name) || name.equals(TYPE)) continue;
        throw Problem.wrong(
            where + " has a member " + name + "; it may have " + String.join(", ", names));
      }
      var values = new @Nullable Object[names.size()];
      for (int i = 0; i < values.length; i++) {
        String at = where + "." + names.get(i);
        values[i] = JsonForms.this.read(components.get(i), object.get(names.get(i)), at);
        if (values[i] == null && classes.get(i).isPrimitive()) {
          throw Problem.wrong(at + " is missing; it must be a " + classes.get(i));
        }
      }
      try {
        return constructor.newInstance(values);
      } catch (InvocationTargetException refused) {
        throw Problem.wrong(where + " is refused by " + type + ": " + refused.getCause());
      } catch (ReflectiveOperationException impossible) {
        throw new IllegalStateException(impossible);
      }
    }

    @Override
    public JsonElement write(Object value, String where) {
      var object = new JsonObject();
      for (int i = 0; i < names.size(); i++) {
        Object component;
        try {
          component = accessors.get(i).invoke(value);
        } catch (ReflectiveOperationException failed) {
          throw new IllegalStateException(
              "the accessor of " + names.get(i) + " of " + type + " failed", failed);
        }
        String at = where + "." + names.get(i);
        object.add(names.get(i), JsonForms.this.write(components.get(i), component, at));
      }
      return object;
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      String name = name(type.raw());
      if (!type.arguments().isEmpty()) {
        name = type.getTypeName().replaceAll("[^A-Za-z0-9._-]+", "_");
      }
      return schemas.named(name, () -> described(schemas));
    }

    private JsonObject described(Schemas schemas) {
      var properties = new JsonObject();
      var required = new JsonArray();
      for (int i = 0; i < names.size(); i++) {
        properties.add(names.get(i), components.get(i).schema(schemas));
        if (!components.get(i).isNullable()) required.add(names.get(i));
      }
      JsonObject schema = Schemas.of("object", "");
      schema.addProperty("title", type.simpleName());
      schema.addProperty("x-stoa-record", type.raw().getSimpleName());
      schema.add("properties", properties);
      if (!required.isEmpty()) schema.add("required", required);
      return schema;
    }
  }

  /// The form of values of which only the class is known. JSON is read as what it is by itself: a
  /// text, a whole number as a Long, another number as a Double, a list, or a map with texts.
  private final class Any implements JsonForm {
    @Override
    public @Nullable Object read(JsonElement json, String where) {
      return switch (json) {
        case JsonArray array -> {
          var list = new ArrayList<@Nullable Object>();
          for (JsonElement one : array) list.add(JsonForms.this.read(this, one, where + "[]"));
          yield list;
        }
        case JsonObject object -> {
          var map = new LinkedHashMap<String, @Nullable Object>();
          object
              .asMap()
              .forEach(
                  (name, of) -> map.put(name, JsonForms.this.read(this, of, where + "." + name)));
          yield map;
        }
        case JsonPrimitive word when word.isNumber() -> {
          String text = word.getAsString();
          Class<?> type = text.matches("-?\\d+") ? Long.class : Double.class;
          yield java.util.Objects.requireNonNull(Leaves.of(type)).read(word, where);
        }
        case JsonPrimitive word when word.isBoolean() -> word.getAsBoolean();
        default -> java.util.Objects.requireNonNull(Leaves.of(String.class)).read(json, where);
      };
    }

    @Override
    public JsonElement write(Object value, String where) {
      JsonForm leaf = Leaves.of(value.getClass());
      if (leaf != null) return leaf.write(value, where);
      return switch (value) {
        case Enum<?> constant -> new JsonPrimitive(constant.name());
        case Optional<?> maybe -> JsonForms.this.write(this, maybe.orElse(null), where);
        case Ref<?> ref -> Shares.write(ref);
        case Facade facade -> Shares.write(shares.stoa().ref(facade));
        case Record record -> {
          JsonForm form = form(Known.of(record.getClass()), where);
          JsonElement written = form.write(record, where);
          yield typed(record.getClass().getSimpleName(), (JsonObject) written);
        }
        case Throwable thrown -> {
          var object = new JsonObject();
          object.addProperty(TYPE, thrown.getClass().getName());
          object.addProperty("message", thrown.getMessage());
          yield object;
        }
        case Map<?, ?> map -> map(map, where);
        case Collection<?> _ -> new Elements(this, ArrayList::new, null, false).write(value, where);
        default -> {
          if (Proxies.of(value) != null) yield Shares.write(shares.stoa().ref(value));
          if (value.getClass().isArray()) {
            yield new Elements(this, ArrayList::new, null, false).write(value, where);
          }
          throw refusal(value.getClass(), where);
        }
      };
    }

    private JsonElement map(Map<?, ?> map, String where) {
      boolean named = true;
      for (Object key : map.keySet()) {
        JsonForm leaf = key == null ? null : Leaves.of(key.getClass());
        named &= key instanceof Enum<?> || (leaf != null && leaf.isName());
      }
      JsonForm key = named ? new Named() : this;
      return new Pairs(key, this, LinkedHashMap::new).write(map, where);
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      return new JsonObject();
    }
  }

  /// The form of keys that are words.
  private final class Named implements JsonForm {
    @Override
    public @Nullable Object read(JsonElement json, String where) {
      return any.read(json, where);
    }

    @Override
    public JsonElement write(Object value, String where) {
      return any.write(value, where);
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      return Schemas.of("string", "");
    }

    @Override
    public boolean isName() {
      return true;
    }
  }
}
