package stoa.front.marshal;

import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;
import stoa.NotShareable;

/// The present constants of one enum of the program, and the constant of each stored name.
///
/// A state stores a constant by its name. The dictionary has the names that the enum had at any
/// time, as `enum v.Color{RED,BLUE}`, so that registering the enum finds a missing one. Immutable.
final class EnumForm {
  private final Class<?> type;
  private final Map<String, Enum<?>> constants = new HashMap<>();
  private final Set<String> removed;

  /// @throws NotShareable when its annotations contradict each other
  EnumForm(Class<?> type) {
    this.type = type;
    this.removed = Lineage.removed(type);
    for (Object constant : type.getEnumConstants()) {
      constants.put(((Enum<?>) constant).name(), (Enum<?>) constant);
    }
    for (Enum<?> constant : List.copyOf(constants.values())) {
      for (String was : Lineage.was(field(constant))) {
        Enum<?> other = constants.putIfAbsent(was, constant);
        if (other == null || other == constant) continue;
        throw new NotShareable(
            type.getName()
                + "."
                + constant.name()
                + " is marked @Was(\""
                + was
                + "\"), and "
                + other.name()
                + (other.name().equals(was) ? " is still there" : " is so too")
                + "; remove one of the two");
      }
    }
    for (String name : removed) {
      if (!constants.containsKey(name)) continue;
      throw new NotShareable(
          type.getName() + "." + name + " is there, and @Removed says it is gone; correct that");
    }
  }

  private Field field(Enum<?> constant) {
    try {
      return type.getDeclaredField(constant.name());
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException(type + " has no field of its constant " + constant, e);
    }
  }

  /// Returns the description for the dictionary.
  ///
  /// @throws NotShareable when it would be too long
  String description(String storedName) {
    String text = "enum " + storedName + "{" + body() + "}";
    if (text.length() <= TypeIds.NAME_CHARS_MAX) return text;
    throw new NotShareable(
        type.getName() + " has too many constants to describe; make it a class of values");
  }

  private String body() {
    return List.of(type.getEnumConstants()).stream()
        .map(constant -> ((Enum<?>) constant).name())
        .collect(Collectors.joining(","));
  }

  /// Compares the constants with those of an earlier version.
  ///
  /// @param lineage knows which losses are accepted; then no value has the constant
  /// @throws NotShareable naming one that is missing without a rule
  void check(String storedName, String body, Lineage lineage) {
    if (body.isEmpty()) return;
    for (String name : body.split(",", -1)) {
      if (constants.containsKey(name) || removed.contains(name)) continue;
      String loss = Loss.removed(storedName, name);
      if (lineage.accepts(loss)) continue;
      throw new NotShareable(
          type.getName()
              + " has no constant "
              + name
              + ", which an earlier version of "
              + storedName
              + " had; mark its successor @Was(\""
              + name
              + "\"), or say that no value has it by @Removed(\""
              + name
              + "\") at the enum"
              + Loss.offer(loss));
    }
  }

  private Enum<?> constant(String name) {
    Enum<?> constant = constants.get(name);
    if (constant != null) return constant;
    throw new NotShareable(
        "the constant "
            + name
            + " of "
            + type.getName()
            + " is stored, and "
            + (removed.contains(name) ? "@Removed says it is gone" : "the enum has none")
            + "; mark its successor @Was(\""
            + name
            + "\")");
  }

  /// Returns the serializer of the constants.
  ///
  /// @param registered the class that stands for the enum in the codec
  Serializer<?> serializer(TypeResolver resolver, Class<?> registered) {
    return new ByName(resolver, registered, this);
  }

  @SuppressWarnings("rawtypes") // Justification: Fory asks for the class of its objects
  private static final class ByName extends Serializer<Object> {
    private final EnumForm form;

    @SuppressWarnings("unchecked") // Justification: as above
    ByName(TypeResolver resolver, Class<?> registered, EnumForm form) {
      super(resolver.getConfig(), (Class) registered, false, true); // like Fory's own
      this.form = form;
    }

    @Override
    public void write(WriteContext context, Object value) {
      context.writeString(((Enum<?>) value).name());
    }

    @Override
    public Object read(ReadContext context) {
      return form.constant(context.readString());
    }

    @Override
    public boolean readDataAlwaysAdvances() {
      return true;
    }
  }
}
