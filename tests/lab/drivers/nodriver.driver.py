"""nodriver: the DevTools protocol without WebDriver."""
import nodriver

from visit import ARGS, take_steps_async, visit


async def main():
    browser = await nodriver.start(
        user_data_dir=f"{visit['profile']}/browser",
        browser_executable_path=visit["chromium"],
        browser_args=ARGS,
        sandbox=False,
    )
    tab = await browser.get(visit["url"])

    async def click(target):
        element = await tab.select(target)
        await element.scroll_into_view()
        await element.mouse_click()

    async def type_text(target, text):
        await click(target)
        await (await tab.select(target)).send_keys(text)

    async def arrive(target):
        await tab.select(target, timeout=20)

    async def scroll(by_px):
        await tab.evaluate(f"window.scrollBy(0, {by_px})")

    await take_steps_async(click=click, type=type_text, scroll=scroll, arrive=arrive)
    await tab.get("about:blank")
    browser.stop()


nodriver.loop().run_until_complete(main())
