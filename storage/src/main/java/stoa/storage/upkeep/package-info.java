/// What keeps a device in order and verifies, surveys and salvages it.
package stoa.storage.upkeep;
