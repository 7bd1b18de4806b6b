import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface FakeS3 {
  readonly url: string;
  /** Objects by bucket and name. */
  readonly objects: Map<string, Buffer>;
  /** Answers the next request with this status and code, and does nothing. */
  failNext(status: number, code: string): void;
  close(): Promise<void>;
}

const ACCESS_KEY = 'test-key';
const SECRET_KEY = 'test-secret';
const REGION = 'eu-test-1';
const PAGE = 2;

export const S3_ACCESS = { accessKey: ACCESS_KEY, secretKey: SECRET_KEY, region: REGION };

/**
 * A server on the loopback that answers as S3 documents: it recomputes each signature from what arrived, needs the length of a body, lists in
 * pages, and answers errors in XML. https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
 */
export async function startFakeS3(): Promise<FakeS3> {
  const objects = new Map<string, Buffer>();
  let failure: { status: number; code: string } | null = null;
  const server = createServer((request, response) => {
    const respond = (body: Buffer): void => {
      const failing = failure;
      failure = null;
      if (failing) answerError(response, failing.status, failing.code);
      else if (!isSigned(request)) answerError(response, 403, 'SignatureDoesNotMatch');
      else answer(objects, request, response, body);
    };
    void buffer(request).then(respond);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    failNext: (status, code) => {
      failure = { status, code };
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(objects: Map<string, Buffer>, request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://s3');
  const name = decodeURIComponent(pathname.slice(1));
  if (request.method === 'PUT') {
    if (request.headers['content-length'] === undefined) return answerError(response, 411, 'MissingContentLength');
    objects.set(name, body);
    response.writeHead(200, { etag: `"${createHash('md5').update(body).digest('hex')}"` }).end();
  } else if (request.method === 'DELETE') {
    objects.delete(name);
    response.writeHead(204).end();
  } else if (searchParams.get('list-type') === '2') {
    const prefix = `${name}/${searchParams.get('prefix') ?? ''}`;
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).slice(0, PAGE);
    const contents = keys.map((key) => `<Contents><Key>${key.slice(name.length + 1)}</Key></Contents>`).join('');
    response.writeHead(200, { 'content-type': 'application/xml' }).end(`<ListBucketResult>${contents}</ListBucketResult>`);
  } else {
    const found = objects.get(name);
    if (found === undefined) return answerError(response, 404, 'NoSuchKey');
    response.writeHead(200, { 'content-length': found.length }).end(found);
  }
}

function answerError(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
}

const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=test-key\/(\S+),SignedHeaders=([\w;-]+),Signature=([0-9a-f]{64})$/;
const DATE = /(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/;
const MAX_SKEW_MS = 900_000;

/** As the service checks it: over the headers that the request says were signed, as they arrived. */
function isSigned({ method, url, headers }: IncomingMessage): boolean {
  const [, scope = '', names = '', signature = ''] = AUTHORIZATION.exec(headers.authorization ?? '') ?? [];
  const date = String(headers['x-amz-date']);
  if (scope !== `${date.slice(0, 8)}/${REGION}/s3/aws4_request` || !isFresh(date) || !names.split(';').includes('host')) return false;
  const { pathname: path, search } = new URL(`http://s3${url ?? '/'}`);
  const query = search.slice(1);
  const sortedQuery = query.replaceAll('+', '%20').split('&').toSorted().join('&');
  const signed = names.split(';').map((name) => `${name}:${String(headers[name])}`);
  const canonical = [method, path, sortedQuery, ...signed, '', names, headers['x-amz-content-sha256']].join('\n');
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`;
  return hmac(signingKey(date.slice(0, 8)), text).toString('hex') === signature;
}

function isFresh(date: string): boolean {
  return Math.abs(Date.parse(date.replace(DATE, '$1-$2-$3T$4:$5:$6Z')) - Date.now()) < MAX_SKEW_MS;
}

function signingKey(day: string): Buffer {
  return hmac(hmac(hmac(hmac(`AWS4${SECRET_KEY}`, day), REGION), 's3'), 'aws4_request');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
