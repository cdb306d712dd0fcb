package stoa.objects;

/// What tests call users' classes by that they compile themselves.
public interface Acting {
  /// Changes the object, and does as it is told.
  int act(String how);

  /// Does as it is told.
  int ask(String how);
}
