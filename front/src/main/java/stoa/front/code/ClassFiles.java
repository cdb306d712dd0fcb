package stoa.front.code;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.attribute.EnclosingMethodAttribute;
import java.lang.classfile.attribute.InnerClassesAttribute;
import java.lang.classfile.attribute.NestHostAttribute;
import java.lang.classfile.attribute.NestMembersAttribute;
import java.lang.classfile.attribute.SourceDebugExtensionAttribute;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.net.URL;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import stoa.spi.ClassWeaver;

/// Reads class files without loading their classes. Thread-safe.
final class ClassFiles {
  private static final String OWN = "stoa/";

  // A class of each module of Stoa that shared classes may use: the classes beside it are Stoa's
  // own.
  private static final List<String> OWN_CLASSES =
      List.of(
          "stoa/Stoa",
          "stoa/base/Check",
          "stoa/front/types/Platform",
          "stoa/objects/EmbeddedEngine",
          "stoa/collections/InstalledCollections",
          "stoa/cluster/ClusterServer");

  private static final String DESCRIPTORS = "L([<";
  private static final Pattern NAMES = Pattern.compile("L([^;<>:.\\[\\s]+)[;<]");

  private static final ClassFile PLAIN =
      ClassFile.of(
          ClassFile.ConstantPoolSharingOption.NEW_POOL,
          ClassFile.StackMapsOption.DROP_STACK_MAPS,
          ClassFile.DebugElementsOption.DROP_DEBUG,
          ClassFile.LineNumbersOption.DROP_LINE_NUMBERS);

  private static final Set<String> PLATFORM =
      ModuleFinder.ofSystem().findAll().stream()
          .map(ModuleReference::descriptor)
          .filter(module -> module.name().startsWith("java.") || module.name().startsWith("jdk."))
          .flatMap(module -> module.packages().stream())
          .map(name -> name.replace('.', '/'))
          .collect(Collectors.toUnmodifiableSet());

  private final ClassLoader loader;
  private final Set<String> ownRoots;

  /// @param loader finds the class files
  ClassFiles(@Nullable ClassLoader loader) {
    this.loader = loader == null ? ClassLoader.getSystemClassLoader() : loader;
    this.ownRoots = new TreeSet<>();
    for (String name : OWN_CLASSES) {
      URL url = this.loader.getResource(name + ".class");
      if (url != null) ownRoots.add(root(url, name));
    }
  }

  /// A class file.
  ///
  /// @param root the jar file or directory that has it
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Found(byte[] bytes, String root) {}

  /// Returns the class file of a class, after weaving by an agent; null when the class is one of
  /// the JDK or of Stoa, or when the loader has no such file.
  ///
  /// @param name with slashes
  @Nullable Found find(String name) {
    int slash = name.lastIndexOf('/');
    if (slash > 0 && PLATFORM.contains(name.substring(0, slash))) return null;
    URL url = loader.getResource(name + ".class");
    if (url == null) return null;
    String root = root(url, name);
    if (name.startsWith(OWN) && ownRoots.contains(root)) return null;
    try (InputStream in = loader.getResourceAsStream(name + ".class")) {
      if (in == null) return null;
      return new Found(ClassWeaver.Agent.seen(loader, in.readAllBytes()), root);
    } catch (IOException unreadable) {
      return null;
    }
  }

  private static String root(URL url, String name) {
    String text = url.toString();
    return text.substring(0, text.length() - name.length() - ".class".length());
  }

  /// Returns the parts of a class file that determine the behavior of the class.
  ///
  /// @param names receives the names of the classes that the class may need, with slashes
  /// @param host receives the name of the class whose private members it shares, if there is one
  static byte[] essence(byte[] file, Set<String> names, Set<String> host) {
    ClassModel model = PLAIN.parse(file);
    model
        .findAttribute(Attributes.nestHost())
        .ifPresent(a -> host.add(a.nestHost().asInternalName()));
    byte[] plain = PLAIN.transformClass(model, ClassTransform.dropping(ClassFiles::isBystander));
    for (PoolEntry entry : PLAIN.parse(plain).constantPool()) {
      switch (entry) {
        case ClassEntry type -> {
          String name = type.asInternalName();
          if (name.startsWith("[")) addDescribed(name, names);
          else names.add(name);
        }
        case Utf8Entry text -> addDescribed(text.stringValue(), names);
        default -> {}
      }
    }
    names.remove(model.thisClass().asInternalName());
    return plain;
  }

  /// Returns whether an element only names classes that the class need not use, or lines of the
  /// source.
  private static boolean isBystander(ClassElement element) {
    return element instanceof InnerClassesAttribute
        || element instanceof NestHostAttribute
        || element instanceof NestMembersAttribute
        || element instanceof EnclosingMethodAttribute
        || element instanceof SourceFileAttribute
        || element instanceof SourceDebugExtensionAttribute;
  }

  /// Adds the names in a descriptor or a generic signature.
  private static void addDescribed(String text, Set<String> names) {
    if (text.isEmpty() || DESCRIPTORS.indexOf(text.charAt(0)) < 0) return;
    Matcher matcher = NAMES.matcher(text);
    while (matcher.find()) names.add(matcher.group(1));
  }
}
