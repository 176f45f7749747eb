import type { WrittenAnswer } from './recorded-bank.ts';

// Bodies as the bank writes them: with a request id of 24 digits, and HAL links whose curies name another host.

const REQUEST_ID = '012345678901234567890123';
const CURIES = '"curies":[{"href":"https://elsewhere.example/api/{rel}","name":"operation"}]';

/** Returns HTTP 200 with `data`, a JSON text, in the envelope of a success. */
export function success(
  data = '{}',
  more: { resourceId?: string; next?: { method: string; href: string }; message?: string } = {},
): WrittenAnswer {
  const messages = more.message ?? '';
  const next = more.next ? `,"next":${JSON.stringify(more.next)}` : '';
  const resources = more.resourceId ? `,"resources":{"resourceId":"${more.resourceId}"}` : '';
  return {
    status: 200,
    body:
      `{"result":{"outcome":"SUCCESS","requestId":"${REQUEST_ID}","flushMessages":true,"messages":[${messages}]},` +
      `"data":${data}${resources},"_links":{"self":{"href":" ","method":"GET"}${next},${CURIES}}}`,
  };
}

/** Returns an error of the interface (interface specification, "Errors", rule 1). */
export function refusal(status: number, code = 'PSD2_TEST', message = 'The test says no'): WrittenAnswer {
  return {
    status,
    body:
      `{"result":{"outcome":"ERROR","requestId":"${REQUEST_ID}","flushMessages":true,` +
      `"messages":[{"code":"${code}","message":"${message}","type":"ERROR","detail":""}]}}`,
  };
}

/** Returns the bank's answer if the customer must first authenticate. */
export function scaRequired(status: number, resourceId: string): WrittenAnswer {
  return {
    status,
    body:
      `{"result":{"requestId":"${REQUEST_ID}","outcome":"ERROR","flushMessages":true,"messages":` +
      `[{"code":"PSD2_SCA_REQUIRED","message":"SCA needed","type":"ERROR"}]},"resources":{"resourceId":"${resourceId}"}}`,
  };
}

/** Returns a token answer like the bank's: padded with blank lines and without links. */
export function tokens(
  accessToken: string,
  refreshToken: string | null,
  expiresIn: number | string = 3500,
): WrittenAnswer {
  const refresh = refreshToken === null ? '' : `,"refresh_token":"${refreshToken}","rt_expires_in":2592000`;
  return {
    status: 200,
    headers: { 'cache-control': 'no-store', pragma: 'no-cache' },
    body:
      `\n\n{"result":{"outcome":"SUCCESS","requestId":"${REQUEST_ID}","flushMessages":true,"messages":[]},` +
      `"data":{"access_token":"${accessToken}","token_type":"Bearer","expires_in":${JSON.stringify(expiresIn)}${refresh},"scope":"oob"}}\n\n`,
  };
}

/** Returns the status of an operation. */
export function operationStatus(authorizationStatus: string, executionStatus = 'PENDING'): WrittenAnswer {
  return {
    status: 200,
    body:
      `{"result":{"outcome":"SUCCESS","requestId":${REQUEST_ID.replace(/^0/, '9')},"messages":[]},"data":` +
      `{"creationTimestamp":"2026-11-21T10:00:00","authorizationStatus":"${authorizationStatus}","executionStatus":"${executionStatus}"}}`,
  };
}
