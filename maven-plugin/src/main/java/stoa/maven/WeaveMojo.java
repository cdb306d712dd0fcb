package stoa.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;
import stoa.weave.WeaveDirectories;

/// Weaves the project's classes after the compiler, in place: `new` of a class with a shared key
/// becomes the shared object of that key, and a static field with `@Shared` becomes a shared
/// collection.
///
/// If a class cannot be woven, the goal changes no file and fails the build. The failure names each
/// such method and field with the reason. Weaving woven classes again changes nothing.
@Mojo(
    name = "weave",
    defaultPhase = LifecyclePhase.PROCESS_CLASSES,
    requiresDependencyResolution = ResolutionScope.COMPILE,
    threadSafe = true)
public class WeaveMojo extends AbstractMojo {
  /// The directory of the compiled classes.
  @Parameter(defaultValue = "${project.build.outputDirectory}", readonly = true, required = true)
  private String directory = "";

  /// The classes that those in the directory use.
  @Parameter(defaultValue = "${project.compileClasspathElements}", readonly = true, required = true)
  private List<String> libraries = List.of();

  /// Weaves nothing.
  @Parameter(property = "stoa.weave.skip")
  private boolean skip;

  /// Makes the goal; Maven sets its parameters.
  public WeaveMojo() {}

  WeaveMojo(Path directory, List<Path> libraries) {
    this.directory = directory.toString();
    this.libraries = libraries.stream().map(Path::toString).toList();
  }

  @Override
  public void execute() throws MojoExecutionException, MojoFailureException {
    Path classes = Path.of(directory);
    if (skip || !Files.isDirectory(classes)) {
      getLog().info(skip ? "stoa.weave.skip is set" : "no classes in " + classes);
      return;
    }
    WeaveDirectories.Report report;
    try {
      List<Path> others =
          libraries.stream().map(Path::of).filter(path -> !path.equals(classes)).toList();
      report = WeaveDirectories.weave(List.of(classes), others);
    } catch (IOException e) {
      throw new MojoExecutionException("cannot read or write the classes in " + classes, e);
    }
    if (!report.refusals().isEmpty()) {
      throw new MojoFailureException(
          "classes in "
              + classes
              + " cannot be woven:\n  "
              + String.join("\n  ", report.refusals()));
    }
    getLog().info("wove " + report.woven().size() + " classes");
  }
}
