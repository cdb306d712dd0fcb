package stoa.tidy;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import javax.lang.model.element.Modifier;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/// Finds public types and methods of exported packages that have no Javadoc. Constructors, and
/// methods that override one, need none of their own.
final class Documented {
  private static final Pattern EXPORT =
      Pattern.compile("^\\s*exports\\s+([\\w.]+)\\s*;", Pattern.MULTILINE);

  private Documented() {}

  /// The undocumented types and methods of all modules.
  static List<String> problems(Repository repository) {
    var problems = new ArrayList<String>();
    for (var module : repository.modules()) {
      Path sources = module.folder().resolve("src/main/java");
      Path info = sources.resolve("module-info.java");
      if (!repository.has(info)) continue;
      EXPORT
          .matcher(repository.text(info))
          .results()
          .map(export -> sources.resolve(export.group(1).replace('.', '/')))
          .filter(repository::has) // others are generated
          .forEach(exported ->
              problems.addAll(
                  undocumented(
                      repository.files(exported, ".java").stream()
                          .filter(file -> exported.equals(file.getParent()))
                          .map(repository.root()::resolve)
                          .toList())));
    }
    return problems;
  }

  /// The undocumented types and methods of some sources, which are parsed and not compiled.
  static List<String> undocumented(List<Path> sources) {
    var problems = new ArrayList<String>();
    var compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      var task =
          (JavacTask)
              compiler.getTask(
                  null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources));
      DocTrees docs = DocTrees.instance(task);
      for (CompilationUnitTree unit : task.parse()) {
        for (Tree type : unit.getTypeDecls()) {
          if (type instanceof ClassTree declared) {
            visit(new TreePath(new TreePath(unit), declared), null, "", docs, problems);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return problems;
  }

  private static void visit(
      TreePath path,
      @Nullable ClassTree outer,
      String within,
      DocTrees docs,
      List<String> problems) {
    var type = (ClassTree) path.getLeaf();
    if (!isPublic(type.getModifiers().getFlags(), outer)) return;
    String name = within + type.getSimpleName();
    if (docs.getDocComment(path) == null)
      problems.add("the public type " + name + " has no Javadoc");
    for (Tree member : type.getMembers()) {
      var memberPath = new TreePath(path, member);
      if (member instanceof ClassTree) visit(memberPath, type, name + ".", docs, problems);
      if (member instanceof MethodTree method
          && isPublic(method.getModifiers().getFlags(), type)
          && method.getReturnType() != null
          && method.getModifiers().getAnnotations().stream()
              .noneMatch(a -> a.getAnnotationType().toString().equals("Override"))
          && docs.getDocComment(memberPath) == null) {
        problems.add("the public method %s.%s has no Javadoc".formatted(name, method.getName()));
      }
    }
  }

  /// Whether a declaration is public, as members of an interface are unless they say otherwise.
  private static boolean isPublic(Set<Modifier> flags, @Nullable ClassTree outer) {
    boolean implied =
        outer != null
            && (outer.getKind() == Tree.Kind.INTERFACE
                || outer.getKind() == Tree.Kind.ANNOTATION_TYPE)
            && !flags.contains(Modifier.PRIVATE);
    return implied || flags.contains(Modifier.PUBLIC);
  }
}
