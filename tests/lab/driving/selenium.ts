import { bareOptions } from '../../support/browser.mjs';
import type { Visit } from '../subject';
import { loadPackage } from './packages';

interface WebElement {
  click(): Promise<void>;
  sendKeys(text: string): Promise<void>;
}
export interface WebDriver {
  get(url: string): Promise<void>;
  findElement(by: unknown): Promise<WebElement>;
  findElements(by: unknown): Promise<WebElement[]>;
  executeScript(script: string, ...args: unknown[]): Promise<unknown>;
  wait(condition: () => Promise<boolean>, limitMs: number): Promise<unknown>;
  quit(): Promise<void>;
}
interface Builder {
  forBrowser(name: string): Builder;
  setChromeOptions(options: unknown): Builder;
  setChromeService(service: unknown): Builder;
  build(): Promise<WebDriver>;
}
export interface SeleniumModule {
  By: { css(selector: string): unknown };
  Builder: new () => Builder;
}
interface ChromeModule {
  Options: new () => { addArguments(...args: string[]): void; setChromeBinaryPath(path: string): void };
  ServiceBuilder: new (path: string) => { setEnvironment(env: NodeJS.ProcessEnv): unknown };
}

/** Opens a Chromium through chromedriver. */
export async function openSelenium({ profile, isHeadful, env }: Visit, chromedriver: string): Promise<WebDriver> {
  const { Builder } = await loadPackage<SeleniumModule>('selenium-webdriver');
  const { Options, ServiceBuilder } = await loadPackage<ChromeModule>('selenium-webdriver/chrome.js');
  const { executablePath, args } = bareOptions([`--user-data-dir=${profile}`, '--window-size=1280,900']);
  const options = new Options();
  options.addArguments(...args, ...(isHeadful ? [] : ['--headless=new']));
  options.setChromeBinaryPath(executablePath);
  const service = new ServiceBuilder(chromedriver).setEnvironment(env);
  return new Builder().forBrowser('chrome').setChromeOptions(options).setChromeService(service).build();
}
