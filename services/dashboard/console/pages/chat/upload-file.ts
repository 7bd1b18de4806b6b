import type { Upload } from '#shared/client/openapi.gen.ts';
import { bytesText } from '../../parts/numbers.tsx';
import { ApiProblem, problemOf } from '../../api/api-problem.ts';
import { parseUpload } from '../../api/parse-answer.ts';

interface UploadOptions {
  /** Of the bytes that were sent, from 0 to 1. */
  onProgress: (part: number) => void;
  signal: AbortSignal;
}

/** Uploads a file for a message. `fetch` reports no progress, so this is the only request of another kind. Throws an `ApiProblem`. */
export function uploadFile(file: File, { onProgress, signal }: UploadOptions): Promise<Upload> {
  return new Promise((resolve, reject: (problem: Error) => void) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/v1/uploads?name=${encodeURIComponent(file.name || 'file')}`);
    request.setRequestHeader('Content-Type', file.type || 'application/octet-stream');
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
    // A server that refuses a large file closes the connection while the browser still sends, which then has no answer.
    request.addEventListener('error', () => reject(notSent(file)));
    request.addEventListener('abort', () => reject(notSent(file)));
    request.addEventListener('load', () => {
      if (request.status < 300) resolve(parseUpload(request.responseText));
      else reject(inWords(problemOf(request.responseText, request.status), file));
    });
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

function notSent({ size }: File): ApiProblem {
  return new ApiProblem({
    code: 'upload.unsent',
    status: 0,
    detail: `It was not sent. The network may be gone, or ${bytesText(size)} is more than a file may have.`,
  });
}

/** A size problem with sizes that people read. */
function inWords(problem: ApiProblem, { size }: File): ApiProblem {
  const { maxBytes } = problem.details;
  if (problem.code !== 'request.too-large' || typeof maxBytes !== 'number') return problem;
  const detail = `It is too large: ${bytesText(size)}, and a file may have ${bytesText(maxBytes)}.`;
  return new ApiProblem({ code: problem.code, status: problem.status, detail, details: problem.details });
}
