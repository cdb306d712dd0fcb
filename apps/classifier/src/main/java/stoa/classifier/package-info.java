/// The network traffic classification service of the self-service paper (section 8.3).
///
/// Networks contribute what they saw to shared classifiers, support vector machines that LIBSVM
/// trains, and read these to judge their traffic. A [stoa.classifier.Classifier] is placed at
/// clients: an update runs at the network that has the records, which nobody else sees but for
/// those that become support vectors.
package stoa.classifier;
