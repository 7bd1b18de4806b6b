import type { AppControllerRoute, AppViewRoute, ControllerHandlerReturnType } from '@bull-board/api/typings/app';
import { ExpressAdapter } from '@bull-board/express';
import type { RequestHandler } from 'express';
import type { RetryParts } from '#shared/queue/index.ts';
import { guardRoute } from './board-actions.ts';
import { boardPage, ticketScript } from './board-page.ts';

export interface BoardServerOptions {
  parts: RetryParts;
  /** Scripts and styles of Bull Board's pages. */
  assets: readonly string[];
  basePath: string;
}

/** BoardServer is responsible for serving Bull Board with the ledger behind its actions and with pages that load nothing from elsewhere. */
export class BoardServer extends ExpressAdapter {
  readonly #parts: RetryParts;
  readonly #assets: readonly string[];

  constructor({ parts, assets, basePath }: BoardServerOptions) {
    super();
    this.#parts = parts;
    this.#assets = assets;
    this.setBasePath(basePath);
    this.app.disable('x-powered-by');
  }

  get handler(): RequestHandler {
    return this.app;
  }

  /** The script with the buttons of a ticket comes without those that are refused whatever the ticket is. */
  override setStaticPath(route: string, directory: string): this {
    const { name, text } = ticketScript(directory);
    this.app.get(`${route}/${name}`, (_request, response) => {
      response.type('js').send(text);
    });
    super.setStaticPath(route, directory);
    return this;
  }

  override setApiRoutes(routes: AppControllerRoute[]): this {
    super.setApiRoutes(routes.map((route) => guardRoute(this.#parts, route)));
    return this;
  }

  /** Its own page has a style of its own in it and takes fonts from another site; neither passes the content policy. */
  override setEntryRoute(entry: AppViewRoute): this {
    this.app.get(entry.route, (_request, response) => {
      const { params } = entry.handler({ basePath: this.basePath, uiConfig: this.uiConfig });
      response
        .type('html')
        .send(boardPage({ basePath: params['basePath'] ?? '', config: params['uiConfig'] ?? '{}', assets: this.#assets }));
    });
    return this;
  }

  /** Errors go on to the service, which knows their codes. */
  override setErrorHandler(_handler: (error: Error) => ControllerHandlerReturnType): this {
    super.setErrorHandler((error) => {
      throw error;
    });
    return this;
  }
}
