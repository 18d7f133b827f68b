# ruff: noqa: RUF001 - letters of many scripts
"""The commonest small words of languages that share a script with others.

In running text every second or third word is one of them, and hardly two languages have the same ones.
"""

FUNCTION_WORDS = {
    # Latin
    "ca": "el la els les un una uns unes de del dels al als i o que no es és en amb per com més però si va ser han ha"
    " són seva seu aquest aquesta aquests també molt quan on tot tots sobre fins sense des cada entre havia era hi ho"
    " li ens us perquè només després així abans cap mentre encara va dels pels molts fer dos anys dia nit",
    "cs": "a i v ve na se je že s z ze do o k ke by byl byla bylo jsou jsem to ten ta ty ale jako jak pro po za od"
    " když už jen také který která které při nebo si tak podle před co jeho jejich ho mu pak nad byli není aby kde"
    " mezi více až tím této tento v roce každý jsme být má mají může",
    "da": "og i at det er en et den de til på med for af som ikke der jeg har han hun vi du var om fra sig men et min"
    " havde blev efter mig hvad kan skal vil eller over ved deres hans hendes også når nu meget nogle nogen være været"
    " denne dette disse hvor under kun mod da op ud hver alle år siger selv så",
    "de": "der die das und in den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er"
    " hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis"
    " mehr durch man sein wurde sei wenn kann gegen vom können schon ich wir ihr ihre seine wieder keine alle unter"
    " dieser diese dieses wer was wo hier dann wurden hatte muss seit jeder jede jeden jedes",
    "en": "the of and to a in is it that was for on are with as his they be at one have this from or had by not but"
    " what all were when we there can an your which their said if do will each about how up out them then she many"
    " some so these would other into has more her two like him see could no than been its who now my made over did"
    " only after where most through before must very any our such because here between under while every once every"
    " should he you i me us also being against during without",
    "et": "ja on ei see et oli ta kui ka ning mis aga oma ma või ning nad siis kes selle seda mida kõik kuid juba"
    " olid pole mitte väga nagu veel oma olla peale enne pärast üle alla sest kus nii üks kaks teda tema nende saab"
    " iga aasta ainult kuni läbi ilma vaid ole olen oled oleme",
    "eu": "eta da du ez bat ere dira izan zen zuen den baina hau hori dela bere edo egin duen ziren baino dituen dute"
    " beste oso gero arte zuten gabe egiten bezala gaur dago nahi behar bai guztiak izango ditu zer nor non hura haiek"
    " bakoitza urte batean",
    "fi": "ja on ei se että oli hän kun myös ovat joka mutta tai niin kuin mukaan vain sen jo nyt hänen olla sekä"
    " ole jos siitä minä sinä me he ne tämä tässä tämän jotka mitä kaikki vielä sitten koska kanssa ollut olivat"
    " ennen jälkeen joita joissa jossa ilman voi sitä ettei eivät hyvin joka vuoden kuten",
    "fr": "le la les de des du et un une en est que qui dans pour au aux par sur ne pas plus ce se il elle ils elles"
    " son sa ses avec sont ou été mais cette ces comme tout nous vous leur leurs on je tu y fait être a ont aussi"
    " très sans sous entre même dont était où si deux après peut bien avait lui chaque depuis avant toute tous"
    " jusqu ainsi donc quand d l qu c n s",
    "ga": "an na agus a i ar is ag do le go sé sí bhí tá ní nach de den don sa san ó mar ach seo sin iad siad mé tú"
    " muid gur nó gach chuig faoi atá raibh bheith leis aige aici acu anois nuair féin idir roimh tar éis",
    "hr": "i u je na se da su za od s o kao koji koja koje to što ali bio bila bilo iz do po ili ne ga sa nije te"
    " samo kako kada već kod bi sam smo ima još prema nakon između više pod nego bez svi sve gdje tako njegov"
    " njihov biti može oni ona ovo taj ta svake svaki",
    "hu": "a az és hogy nem is egy van ez volt meg de ha csak már még azt mint el vagy ki ezt fel mert így lehet"
    " minden majd ami kell után között aki ő én te mi ők be le amely pedig sem voltak lesz nagyon itt ott akkor"
    " mindig szerint alatt előtt miatt minden olyan hanem vannak",
    "id": "yang dan di dari ini itu dengan untuk pada tidak dalam adalah akan ke juga oleh karena ada kami saya mereka"
    " dia telah sudah bisa dapat lebih sebagai atau seperti kita anda tersebut bahwa hanya saat setelah sebelum antara"
    " para menjadi banyak semua masih setiap harus jika namun sangat secara",
    "it": "il lo la i gli le di del della dei delle e che un una uno in è per non con da si al alla sono come più ma"
    " anche nel nella dal dalla su questo questa era ha hanno suo sua loro o se mi ti ci quando essere stato stata"
    " tutti tutto molto dove ogni dopo prima senza tra fra due sul sulla ai alle degli così fu ed aveva solo fino"
    " perché chi cui ho lui lei",
    "lt": "ir yra kad į su iš kaip ne tai bet o buvo jis ji jie ar už tik dar apie po nuo jau labai kai dėl prie kuris"
    " kuri kurie taip pat bei šis ši tas ta mes jūs aš tu kur iki per prieš visi viskas tarp be gali būti turi"
    " kiekvieną",
    "lv": "un ir uz ar no ka par kas bet pie tas tā arī vai bija kā lai pēc viņš viņa viņi jau tikai nav to šis šī"
    " tiek gan es mēs jūs tu kad ko līdz pirms ļoti vēl visi vairāk starp bez būt var katru kur",
    "nl": "de het een en van in is dat op te zijn met voor niet aan er om ook als dan die bij nog maar naar uit door"
    " over hij zij ze wordt werd was heeft had hebben worden kan meer geen deze dit of tot wel onder tegen ik je we"
    " hun haar mijn wat wie waar al zo na veel moet zou kunnen alle elke mensen toen",
    "no": "og i det er på en et som til av for med ikke at den de har jeg var om fra seg men han hun vi du hadde ble"
    " etter meg hva kan skal vil eller over ved deres hans hennes også når nå mye noen noe være vært denne dette disse"
    " hvor under bare mot da opp ut hver alle år selv så blir",
    "pl": "w i na z się nie do to że o jest a jak po co ale za od dla przez oraz był była było są tym tego ten ta te"
    " przy już tylko może ich jego jej który która które czy lub być także ze tak by pod nad mu go gdy jako każdej"
    " każdy między bez przed aby bardzo jeszcze więc kiedy gdzie roku byli mnie mi nam",
    "pt": "o a os as de do da dos das e que em um uma para com não por mais no na nos nas se é ao aos à como mas foi"
    " ele ela eles elas seu sua seus suas ou ser quando muito há já também só pelo pela até isso entre era depois sem"
    " mesmo são tem ter este esta esse essa foram eu nós você onde sobre cada antes porque todos todas estava",
    "ro": "și de la în a o cu pe nu să că un din este care pentru mai au cel sunt prin ce ca fi fost sau dar al ai ale"
    " lui ei lor se le era după sub până fără când unde dacă foarte această acest aceste doar între toate toți fiecare"
    " îi îl s-a am avea avut își numai acum",
    "sk": "a v na sa je že s z do o k by bol bola bolo sú som to ten tá tie ale ako pre po za od keď už len aj ktorý"
    " ktorá ktoré pri alebo si tak podľa pred čo jeho ich ho mu nad boli nie aby kde medzi viac až tým tento každý sme"
    " byť má majú môže ešte im kým všetko všetci všetkých nikto ktorú sme iba",
    "sl": "in je v na da se so za ki z s pa kot po o ne ali bi bil bila bilo od pri do tudi ko kaj kako le še že biti"
    " ima več med pod brez vsi kje tako njegov njihov lahko smo sem jih ga mu ji tega ta to vsak zelo pred samo",
    "es": "el la los las de del y que en un una por con no para es se al lo como más pero sus su le ha o este esta"
    " fue son entre cuando muy sin sobre ser también me hasta hay donde quien desde todo nos durante todos uno les ni"
    " contra otros ese eso había ante ellos ella cada porque era tiene estaba dos así después yo él si ya sólo solo"
    " antes han está",
    "sv": "och i att det är en ett som på av för med den till inte har de om jag han hon vi du var från sig men ett"
    " min hade blev efter mig vad kan ska skall vill eller över vid deras hans hennes också när nu mycket några någon"
    " vara varit denna detta dessa där under bara mot då upp ut varje alla år själv så blir",
    "tr": "ve bir bu da de için ile çok olarak daha en gibi ne o kadar olan sonra her ama ya mi mı var yok değil ki"
    " oldu olduğu ben sen biz siz onlar onun göre diye şey çünkü önce hiç bile ise zaman veya tarafından ancak üzere"
    " bütün tüm kendi eden etti içinde üzerinde arasında",
    "vi": "và của là có không được cho trong một các những với người này khi đã để từ đến cũng như về tại ra vào sẽ"
    " nhưng nhiều đó hay hơn rất còn phải theo trên mỗi",
    # Cyrillic
    "be": "і у ў на не што з як па да за гэта але яго ад для быў была было былі так ён яна яны мы вы я каб толькі ці"
    " пры калі дзе ўжо вельмі яшчэ які якая якія іх кожны пасля паміж перад",
    "bg": "и на в да се за от е не с по че са като до това ще но при беше или след което които който която много още"
    " само как ще към няма той тя те ние вие аз му му бе бяха бил била било си със във тази този всеки всички преди"
    " между където когато",
    "mk": "и на во да се за од е не со по дека како до тоа ќе но при беше или по што кој која кои многу уште само кон"
    " тој таа тие ние вие јас му ги го беа бил била било си овој оваа секој сите пред меѓу каде кога не сум",
    "ru": "и в не на я что он с как это по но его к из у за от так о же все она бы а мы для вы то было был была были"
    " только или ещё еще уже до если когда при них ни их чтобы под есть даже ли во со который которая которые может"
    " очень где после этого этот эта между каждый перед без над",
    "sr": "и у је на се да су за од са о као који која које то што али био била било из до по или не га није те само"
    " како када већ код би сам смо има још према након између више под него без сви све где тако његов њихов бити може"
    " они она ово тај та сваки",
    "uk": "і в у на не що з як по та до за це але його від для був була було були так він вона вони ми ви я щоб лише"
    " чи при коли де вже дуже ще який яка які їх кожен після між перед або й із під без ж бути може",
    # Arabic
    "ar": "في من على إلى أن عن مع هذا هذه التي الذي كان كانت ما لا هو هي لم قد كل بعد قبل بين أو ثم كما ذلك تلك عند"
    " حيث غير إن لكن أي منذ حتى إذا وهو وهي وقد ولا وفي فيها عليه به له لها ليس",
    "fa": "و در به از که این را با است برای آن یک خود تا بر هم نیز می شد شده بود بودند هر اما یا اگر ما او آنها من"
    " هستند شود کند کرد کرده باید پس چه بین روی پیش دیگر های نمی شب",
    "ur": "کے میں کی ہے اور سے کا کو اس کہ نے پر یہ ہیں ایک تھا تھی تھے بھی نہیں ہو کر وہ جو تو کیا گیا جب تک ہی لیے"
    " ہر بعد ساتھ اپنے ان",
    # Devanagari
    "hi": "के में की है और से का को इस कि ने पर यह हैं एक था थी थे भी नहीं हो कर वह जो तो क्या गया जब तक ही लिए हर बाद"
    " साथ अपने उस या",
    "mr": "आणि आहे या हे ते की च तो ती आहेत होता होती होते नाही मध्ये साठी पण का एक व केले केली हा ही त्या जे असे मी प्रत्येक वर",
    "ne": "र छ को मा ले यो का हो पनि भएको लागि गर्न छन् एक थियो थिए भने गरेको तथा हुन् उनी त्यो हरेक तर के यस हुने बाट सँग",
    # Hebrew
    "he": "של את על לא הוא זה היא עם כי גם אבל אם או כל היה היתה הם אני מה יש אין רק עד בין כמו אחרי לפני זאת אשר בכל",
    "yi": "און די דער דאָס איז אין צו מיט פֿון ניט אַ אַז האָט זײַן ער זי מען װאָס איך מיר נאָר אױף פֿאַר אָבער",
}
"""By ISO 639-1 code; separated by spaces."""

TELLING_LETTERS = {
    "ca": "çïŀ", "cs": "řěů", "da": "æøå", "de": "äöüß", "es": "ñ", "et": "õäöü", "fi": "äö", "fr": "çêèàœîû",
    "hr": "đć", "hu": "őűö", "it": "ùòì", "lt": "ėįųū", "lv": "āēīūļņķģ", "no": "æøå",
    "pl": "łąężśźćń", "pt": "ãõç", "ro": "ăâîșțşţ", "sk": "ľĺŕôä", "sv": "åäö", "tr": "ığşçöü",
    "vi": "ơưđăâạảấầẩậắặẹẻếềểệịọỏốồổộớờởợụủứừửựỳỹ",
    "be": "ўыэіё", "bg": "ъщи", "mk": "ѓќѕјљњџи", "ru": "ыэёи", "sr": "ђћјљњџи", "uk": "їєґіи",
    "ar": "ةأإىيك", "fa": "پچژگیک", "ur": "ٹڈڑےںہھی", "mr": "ळ", "yi": "\u05f0\u05f1\u05f2",
}  # fmt: skip
"""Letters that few others of the same script use."""
