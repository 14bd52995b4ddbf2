"""nodriver: the DevTools protocol without WebDriver."""
import nodriver
from nodriver.core.connection import ProtocolException
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
        for _ in range(40):
            try:
                element = await tab.select(target)
                await element.scroll_into_view()
                return await element.mouse_click()
            except ProtocolException as error:
                if "navigated" in str(error):  # The click has led to the next page.
                    return
                await tab.sleep(0.25)  # The page has replaced the element meanwhile.

    async def type_text(target, text):
        await click(target)
        await (await tab.select(target)).send_keys(text)

    arrive = lambda target: tab.select(target, timeout=20)
    scroll = lambda by_px: tab.evaluate(f"window.scrollBy(0, {by_px})")
    await take_steps_async(click=click, type=type_text, scroll=scroll, arrive=arrive)
    await tab.get("about:blank")
    browser.stop()


nodriver.loop().run_until_complete(main())
