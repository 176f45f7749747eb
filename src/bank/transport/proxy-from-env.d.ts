declare module 'proxy-from-env' {
  /** The proxy that `HTTPS_PROXY` and `NO_PROXY` of this process name for an address, or `''`. */
  export function getProxyForUrl(url: string): string;
}
