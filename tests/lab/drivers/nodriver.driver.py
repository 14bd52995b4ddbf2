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

    async def look_again(act, target):
        for _ in range(40):
            try:
                element = await tab.select(target, timeout=20)
                return await act(element) if act else element
            except ProtocolException as error:
                if "navigated" in str(error):  # The deed has led to the next page.
                    return
                await tab.sleep(0.25)  # The page has replaced its elements meanwhile.
    async def press(element):
        await element.scroll_into_view()
        await element.mouse_click()

    click = lambda target: look_again(press, target)
    async def type_text(target, text):
        await click(target)
        await look_again(lambda element: element.send_keys(text), target)
    arrive = lambda target: look_again(None, target)
    scroll = lambda by_px: tab.evaluate(f"window.scrollBy(0, {by_px})")
    await take_steps_async(click=click, type=type_text, scroll=scroll, arrive=arrive)
    await tab.get("about:blank")
    browser.stop()


nodriver.loop().run_until_complete(main())
