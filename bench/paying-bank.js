// A NextGenPSD2 bank that executes each payment at once, without SCA, and answers after some time: node paying-bank.js <folder> <ms>.
// It checks nothing. It prints its port.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';

const [folder = '', answerMs = '0'] = process.argv.slice(2);

const server = createServer(
  { key: readFileSync(join(folder, 'bank-key.pem')), cert: readFileSync(join(folder, 'bank.pem')) },
  (request, response) => {
    request.resume();
    setTimeout(() => answer(request, response), Number(answerMs));
  },
);
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));

function answer({ method, url, headers }, response) {
  const id = { 'content-type': 'application/json', 'x-request-id': headers['x-request-id'] };
  if (method === 'GET') {
    response.writeHead(200, id).end('{"transactionStatus":"ACSC"}');
    return;
  }
  const paymentId = randomUUID();
  const path = `${url}/${paymentId}`;
  const links = { self: { href: path }, status: { href: `${path}/status` } };
  response
    .writeHead(201, { ...id, location: path })
    .end(JSON.stringify({ transactionStatus: 'ACSC', paymentId, _links: links }));
}
