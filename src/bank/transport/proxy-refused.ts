/** The proxy answered CONNECT with a status other than 200. */
export class ProxyRefused extends Error {
  readonly statusCode: number;

  constructor(statusCode: number) {
    super(`HTTP ${statusCode}`);
    this.statusCode = statusCode;
  }
}
