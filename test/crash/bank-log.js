// Loaded into the sandbox's process: records each request that the bank receives, and the status of its answer.
import { appendFileSync } from 'node:fs';
import https from 'node:https';

const { BANK_LOG } = process.env;
const { emit } = https.Server.prototype;

https.Server.prototype.emit = function (event, ...values) {
  const [request, response] = values;
  if (event === 'request' && BANK_LOG) {
    const { method, url, headers } = request;
    const line = { method, path: url, requestId: headers['tpp-request-id'] ?? headers['x-request-id'] };
    appendFileSync(BANK_LOG, `${JSON.stringify(line)}\n`);
    response.once('close', () => {
      const answer = { requestId: line.requestId, status: response.statusCode };
      appendFileSync(BANK_LOG, `${JSON.stringify(answer)}\n`);
    });
  }
  return emit.call(this, event, ...values);
};
