/** as psd2 writes it for the passphrase `correct horse`. */
export const stored = {
  v: 1,
  id: 'aszt2ZDKZ-xNgA5b',
  state: 'on',
  wrappedBy: { kind: 'passphrase', scrypt: { N: 32768, r: 8, p: 3, salt: 'sbUf0TKqy6rmfP+FXPiZrg==' } },
  key: {
    v: 1,
    cipher: 'aes-256-gcm',
    nonce: 'c+YdXSVquo5YnPeK',
    tag: 'zk393WosYvhKTVXpF5jGog==',
    data: 'Z2jCGiQyDMEssmkXtELCuWMfIy6BDpvwablo/Gf2lDiQAGxcIupALw4JrUs=',
  },
};
