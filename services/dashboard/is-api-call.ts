import type { Request } from 'express';

/** Whether a program waits for the answer, as opposed to a person. */
export function isApiCall(request: Request): boolean {
  return request.originalUrl.startsWith('/board/api/') || request.accepts(['html', 'json']) !== 'html';
}
