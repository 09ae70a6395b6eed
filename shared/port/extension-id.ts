// The names by which browsers know the helper and the extension; the helper's manifests contain them and its callers
// are checked against them. The key is public and fixes Chromium's id wherever the extension is loaded from; its private
// half was not kept.

/** The manifest's `key`: an RSA public key, DER-encoded SubjectPublicKeyInfo in base64. */
export const EXTENSION_KEY =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAz4G1glWeUt57HLH5s3EDYXEkH581xMsyYaHbgSCiisVc5cN106XaAuEc' +
  'ZFSFSuiI/aLz1qEoT+7MWujnk9SbzNo+J8B26LwXf/eYKE7o2ay4JHFHEdqsnXx8VoA9z2pUe2mMdj2Rmo6pHM3Vx6bFHtIEfxEh' +
  'PAJ2b3TzKXMKA61MNWBPmiozRbL6ng5OlhDEBHrzySBfNVhaAOvVlk+iXP02L+e+LBkrPdvfzDlLJ9q+pvJoMHcmjLd92+5YghLg' +
  'UfQe0HEsole97twcuXj4K75PEENlDiLwLHcA/1V8Q/3EGyjFTwYw9dFKwZU9hneASrLuM7IXtZW7V0tpjGIvwQIDAQAB';

/** Chromium's id for that key: the first 16 bytes of its SHA-256, each hex digit written as a letter from a to p. */
export const CHROMIUM_EXTENSION_ID = 'cjlcppkpnfaojocpkejfadmflkdhibkb';

/** How Chromium names a caller, with its id. */
export const CHROMIUM_CALLER = /^chrome-extension:\/\/([a-p]{32})\/$/;

/** The add-on id that the manifest sets for Firefox. */
export const FIREFOX_EXTENSION_ID = 'photofinish@photofinish.org';

/** The helper's name as a native messaging host. */
export const HOST_NAME = 'org.photofinish.host';
