package stoa.weave;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Annotation;
import java.lang.classfile.AnnotationValue;
import java.lang.classfile.AttributedElement;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.Signature;
import java.lang.classfile.attribute.SignatureAttribute;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.reflect.AccessFlag;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.spi.SharedField;

/// The classes and static fields that [stoa.Shared] makes shared, according to class files; it
/// loads no class for that. Thread-safe.
final class SharedNames {
  private static final String MARK = "Lstoa/Shared;";
  private static final Type NONE = new Type(false, Map.of(), Set.of(), List.of());

  private final FilesOfClasses files;
  private final Map<String, Type> types = new ConcurrentHashMap<>();

  /// The relevant facts of one class.
  ///
  /// @param keyed whether to weave `new`
  /// @param fields the annotated fields, by name
  /// @param declared the names of all fields
  /// @param above the superclass and the interfaces, with slashes
  private record Type(
      boolean keyed, Map<String, SharedStatic> fields, Set<String> declared, List<String> above) {}

  /// A field with the annotation.
  ///
  /// @param owner the class that declares it, with slashes
  /// @param problem why it cannot be a shared collection; null when it can
  record SharedStatic(String owner, String name, @Nullable String problem) {}

  SharedNames(FilesOfClasses files) {
    this.files = files;
  }

  /// Returns whether to weave `new` of a class.
  ///
  /// @param name with slashes
  boolean isKeyed(String name) {
    return type(name).keyed;
  }

  /// Returns the shared field that a name refers to in a class; null when it refers to another
  /// field.
  @Nullable SharedStatic field(String owner, String name) {
    Type type = type(owner);
    SharedStatic own = type.fields.get(name);
    if (own != null || type.declared.contains(name)) return own;
    for (String above : type.above) {
      SharedStatic inherited = field(above, name);
      if (inherited != null) return inherited;
    }
    return null;
  }

  /// Returns whether a class or one of its supertypes has shared fields.
  boolean hasFields(String name) {
    Type type = type(name);
    return !type.fields.isEmpty() || type.above.stream().anyMatch(this::hasFields);
  }

  /// Adds the facts of a class file, which need not be read again.
  void learn(ClassModel model) {
    String name = model.thisClass().asInternalName();
    if (!types.containsKey(name)) types.put(name, read(model));
  }

  private Type type(String name) {
    Type known = types.get(name);
    if (known == null) {
      known = read(name);
      types.put(name, known);
    }
    return known;
  }

  private Type read(String name) {
    if (name.startsWith("[") || isPlatform(name)) return NONE;
    try (InputStream in = files.open(name + ".class")) {
      return in == null ? NONE : read(ClassFile.of().parse(in.readAllBytes()));
    } catch (IOException | RuntimeException unreadable) {
      return NONE; // the JVM reports the error
    }
  }

  static boolean isPlatform(String name) {
    return name.startsWith("java/")
        || name.startsWith("javax/")
        || name.startsWith("jdk/")
        || name.startsWith("sun/");
  }

  private static Type read(ClassModel model) {
    Annotation shared = shared(model);
    boolean keyed =
        shared != null
            && !model.flags().has(AccessFlag.INTERFACE)
            && shared.elements().stream()
                .anyMatch(one ->
                    one.name().equalsString("key")
                        && one.value() instanceof AnnotationValue.OfString key
                        && !key.stringValue().isEmpty());
    Map<String, SharedStatic> fields = new ConcurrentHashMap<>();
    for (SharedStatic field : fields(model)) fields.put(field.name, field);
    var above = new ArrayList<String>();
    Stream.concat(model.superclass().stream(), model.interfaces().stream())
        .map(ClassEntry::asInternalName)
        .filter(one -> !isPlatform(one))
        .forEach(above::add);
    Set<String> declared =
        model.fields().stream()
            .map(field -> field.fieldName().stringValue())
            .collect(Collectors.toUnmodifiableSet());
    return new Type(keyed, fields, declared, List.copyOf(above));
  }

  /// Returns the shared fields that a class declares.
  static List<SharedStatic> fields(ClassModel model) {
    String owner = model.thisClass().asInternalName();
    return model.fields().stream()
        .filter(field -> shared(field) != null)
        .map(field -> new SharedStatic(owner, field.fieldName().stringValue(), problem(field)))
        .toList();
  }

  private static @Nullable Annotation shared(AttributedElement element) {
    return element.findAttribute(Attributes.runtimeVisibleAnnotations()).stream()
        .flatMap(all -> all.annotations().stream())
        .filter(one -> one.className().equalsString(MARK))
        .findFirst()
        .orElse(null);
  }

  private static @Nullable String problem(FieldModel field) {
    if (!field.flags().has(AccessFlag.STATIC)) return SharedField.Kind.NOT_STATIC;
    String descriptor = field.fieldType().stringValue();
    String type =
        descriptor.startsWith("L")
            ? descriptor.substring(1, descriptor.length() - 1).replace('/', '.')
            : descriptor;
    SharedField.Kind kind = SharedField.Kind.of(type);
    if (kind == null) return SharedField.Kind.NO_COLLECTION;
    Optional<SignatureAttribute> generic = field.findAttribute(Attributes.signature());
    boolean classes =
        generic.isPresent()
            && generic.get().asTypeSignature() instanceof Signature.ClassTypeSig signature
            && signature.typeArgs().size() == kind.types()
            && signature.typeArgs().stream().allMatch(SharedNames::isClass);
    return classes ? null : SharedField.Kind.NO_CLASSES;
  }

  private static boolean isClass(Signature.TypeArg argument) {
    return argument instanceof Signature.TypeArg.Bounded bounded
        && bounded.wildcardIndicator() == Signature.TypeArg.Bounded.WildcardIndicator.NONE
        && isClass(bounded.boundType());
  }

  private static boolean isClass(Signature signature) {
    return switch (signature) {
      case Signature.BaseTypeSig _ -> true;
      case Signature.ArrayTypeSig array -> isClass(array.componentSignature());
      case Signature.ClassTypeSig type ->
          type.typeArgs().isEmpty() && type.outerType().map(SharedNames::isClass).orElse(true);
      default -> false;
    };
  }
}
