/// The common part of this repository's programs: their command line, child processes, directories.
@org.jspecify.annotations.NullMarked
module stoa.programs {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires transitive info.picocli;
  requires java.management;

  exports stoa.programs;

  opens stoa.programs to
      info.picocli;
}
