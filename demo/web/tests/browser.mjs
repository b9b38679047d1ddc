// browser.mjs -- a static web server, and headless Chromium by WebDriver. SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json', '.wav': 'audio/wav' };
const sleep = (ms) => new Promise((wake) => { setTimeout(wake, ms); });

export async function serve(folder) {
  const server = createServer(async ({ url }, answer) => {
    const path = normalize(new URL(url, 'http://x').pathname);
    try {
      const body = await readFile(join(folder, path === '/' ? 'index.html' : path));
      answer.writeHead(200, { 'content-type': TYPES[extname(path)] ?? (path === '/' ? 'text/html' : 'application/octet-stream') }).end(body);
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise((listening) => { server.listen(0, '127.0.0.1', listening); });
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

export class Browser {
  // flags: Chromium's, beside those that a container needs.
  static async open(flags = [], size = [1100, 1250]) {
    const browser = new Browser();
    browser.driver = spawn('chromedriver', ['--port=0'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const port = await new Promise((found, fail) => {
      let said = '';
      browser.driver.stdout.on('data', (text) => {
        const match = /successfully on port (\d+)/.exec(said += text);
        if (match) found(match[1]);
      });
      browser.driver.on('exit', () => fail(new Error(`chromedriver ends: ${said}`)));
    });
    browser.base = `http://127.0.0.1:${port}`;
    const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--autoplay-policy=no-user-gesture-required',
      `--window-size=${size.join(',')}`, '--force-device-scale-factor=1', '--hide-scrollbars', ...flags];
    const capabilities = { alwaysMatch: { browserName: 'chrome', 'goog:chromeOptions': { args }, 'goog:loggingPrefs': { browser: 'ALL' }, timeouts: { script: 300000 } } };
    try {
      browser.session = (await browser.call('POST', '/session', { capabilities })).sessionId;
    } catch (error) {
      browser.driver.kill();
      throw error;
    }
    browser.base += `/session/${browser.session}`;
    return browser;
  }
  async call(method, path, body) {
    const answer = await fetch(this.base + path, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${value.message.split('\n')[0]}`);
    return value;
  }
  go(url) { return this.call('POST', '/url', { url }); }
  // The body of an async function, run in the page; `args` is what it is given.
  run(body, ...args) {
    return this.call('POST', '/execute/async', { script: `const done = arguments[arguments.length - 1], args = [...arguments].slice(0, -1);
      (async () => { ${body} })().then((value) => done({ value }), (error) => done({ error: String(error?.stack ?? error) }));`, args })
      .then(({ value, error }) => { if (error) throw new Error(error); return value; });
  }
  async until(condition, seconds = 60) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(100)) if (await this.run(`return ${condition};`)) return;
    throw new Error(`not in ${seconds} s: ${condition}`);
  }
  async keys(...keys) {
    const actions = keys.flatMap((value) => [{ type: 'keyDown', value }, { type: 'keyUp', value }]);
    await this.call('POST', '/actions', { actions: [{ type: 'key', id: 'keyboard', actions }] });
  }
  async picture() { return Buffer.from(await this.call('GET', '/screenshot'), 'base64'); }
  resize(width, height) { return this.call('POST', '/window/rect', { width, height }); }
  complaints() { return this.call('POST', '/se/log', { type: 'browser' }).then((log) => log.filter(({ level }) => level === 'SEVERE')); }
  async close() {
    await this.call('DELETE', '').catch(() => {});
    this.driver.kill();
  }
}
