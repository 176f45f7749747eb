declare module 'undici/lib/dispatcher/client.js' {
  // Loading all of undici would take five times as long.
  import { Client } from 'undici';
  export default Client;
}
