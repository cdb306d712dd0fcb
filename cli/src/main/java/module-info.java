/// The command line.
@org.jspecify.annotations.NullMarked
module stoa.cli {
  requires static transitive org.jspecify;
  requires stoa.bench;
  requires stoa.stacksync;
  requires stoa.objects;
  requires info.picocli;
  requires java.management;

  opens stoa.cli to
      info.picocli;
}
