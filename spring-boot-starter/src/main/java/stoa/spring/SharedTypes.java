package stoa.spring;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;
import org.springframework.core.type.filter.AnnotationTypeFilter;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;

/// The shared classes and interfaces of an application.
///
/// @param classes in the order of their names
record SharedTypes(List<Class<?>> classes) {
  // Opening an object of a type checks the type, and neither reads nor writes the object.
  private static final String UNUSED_KEY = "stoa.spring.check";

  /// Finds all types with [Shared] in packages and those below them.
  ///
  /// @throws StoaStartFailure when a class cannot be loaded
  static SharedTypes in(
      Collection<String> packages,
      Environment environment,
      ResourceLoader resources,
      ClassLoader loader) {
    var scanner = new Scanner(environment);
    scanner.setResourceLoader(resources);
    var names = new TreeSet<String>();
    for (String name : packages) {
      for (BeanDefinition found : scanner.findCandidateComponents(name)) {
        names.add(String.valueOf(found.getBeanClassName()));
      }
    }
    var classes = new ArrayList<Class<?>>();
    for (String name : names) classes.add(load(name, loader));
    return new SharedTypes(List.copyOf(classes));
  }

  private static Class<?> load(String name, ClassLoader loader) {
    try {
      return Class.forName(name, false, loader);
    } catch (ClassNotFoundException | LinkageError e) {
      throw new StoaStartFailure(
          "The shared class " + name + " cannot be loaded: " + e,
          "Put what it uses on the class path, or name other packages in stoa.scan.packages.",
          e);
    }
  }

  /// Checks all types with a store: their bytecode, and whether they fit what is stored. A server
  /// must know them.
  ///
  /// @throws StoaStartFailure with the reason of each type that the store refuses
  void check(Stoa stoa) {
    var refused = new ArrayList<NotShareable>();
    for (Class<?> type : classes) {
      try {
        var _ = stoa.get(type, UNUSED_KEY);
      } catch (NotShareable reason) {
        refused.add(reason);
      }
    }
    if (refused.isEmpty()) return;
    var text = new StringBuilder();
    text.append("The store refuses ").append(refused.size()).append(" of ");
    text.append(classes.size()).append(" shared classes:\n");
    for (NotShareable reason : refused) text.append("\n  * ").append(reason.getMessage());
    var failure =
        new StoaStartFailure(
            text.toString(), "Correct these classes. Each message names the remedy.");
    refused.forEach(failure::addSuppressed);
    throw failure;
  }

  /// Finds interfaces and nested classes, too.
  private static final class Scanner extends ClassPathScanningCandidateComponentProvider {
    private Scanner(Environment environment) {
      super(false, environment);
      addIncludeFilter(new AnnotationTypeFilter(Shared.class, false));
    }

    @Override
    protected boolean isCandidateComponent(AnnotatedBeanDefinition definition) {
      return true;
    }
  }
}
