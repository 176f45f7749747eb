// The one part of undici that a call needs; the package's index loads fetch, caches and web sockets too.
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';
  export default Client;
}
