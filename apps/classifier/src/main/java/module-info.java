/// Classifiers of network traffic that many networks train together, each keeping its records.
@org.jspecify.annotations.NullMarked
module stoa.classifier {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires transitive stoa.migration;
  requires libsvm;

  exports stoa.classifier;
  exports stoa.classifier.run;
}
